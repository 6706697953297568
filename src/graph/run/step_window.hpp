//! StepWindow - admission of steps: which steps may begin, and the ready roots of later steps.
//!
//! Steps are done in order; step s may begin when step s - window is done. admits(), park() and
//! release_all(): any thread. record_done(): one thread at a time. A root that finds its step not
//! admitted is parked by its number; each number is in the list at most once, with a link beside
//! it. The thread that admits a step, or parks too late for that, releases all parked roots and
//! parks those of a later step again.
//!
//! Progress: admits() and record_done() wait-free, park() lock-free. Ordering labels: (P) park, (O)
//! open, (S) the number of steps done. Source: the list is R. K. Treiber's stack (1986) without a
//! single pop.
#pragma once

#include <cstdint>

#include "base/cache_line.hpp"
#include "core/sync.hpp"

namespace sorrel::graph {

using core::Order;

template <class Sync>
class BasicStepWindow {
 public:
  /// The number that follows, counted from 1; 0 = none.
  using Link = typename Sync::template Plain<std::uint32_t>;

  explicit BasicStepWindow(std::uint64_t window = 1) : window_(window) {}

  /// While no other thread uses the window: `first` steps are done, no root is parked.
  void begin(std::uint64_t first = 0) {
    done_.store(first, Order::relaxed);
    newest_.store(0, Order::relaxed);
  }

  /// Number of steps done.
  [[nodiscard]] std::uint64_t done() const {
    // (S) acquire, pairs with record_done(): all effects of those steps.
    return done_.load(Order::acquire);
  }

  [[nodiscard]] bool admits(std::uint64_t step) const { return step < done() + window_; }

  /// Records that steps 0 to `count` - 1 are done. The caller then calls release_all().
  void record_done(std::uint64_t count) {
    // (S) release: the effects of the step.
    done_.store(count, Order::release);
  }

  /// Parks a root whose step was not admitted. Returns false if the step has been admitted since:
  /// the caller then calls release_all(), because the admitting thread may have emptied the list
  /// before.
  [[nodiscard]] bool park(std::uint32_t number, std::uint64_t step, Link& link) {
    std::uint32_t newest = newest_.load(Order::relaxed);
    do {
      link.mutate() = newest;
      // (P) release: the link, and what made the root ready. Acquire: if the exchange of
      // release_all() came before, (O), this thread sees the admission; else that exchange sees
      // this root.
    } while (!newest_.compare_exchange(newest, number + 1, Order::acq_rel));
    return !admits(step);
  }

  /// Empties the list and gives each number to consume(number), which may park it again.
  template <class LinkOf, class Consume>
  void release_all(LinkOf&& link_of, Consume&& consume) {
    // (O) acquire, pairs with (P): the links and what belongs to the roots. Release: see park().
    std::uint32_t next = newest_.exchange(0, Order::acq_rel);
    while (next != 0) {
      const std::uint32_t number = next - 1;
      next = link_of(number).get();
      consume(number);
    }
  }

 private:
  std::uint64_t window_;
  typename Sync::template Atomic<std::uint64_t> done_{0};
  // Its own line: parking does not invalidate the line that every root reads.
  alignas(cache_line_bytes) typename Sync::template Atomic<std::uint32_t> newest_{0};
};

using StepWindow = BasicStepWindow<core::StdSync>;

}  // namespace sorrel::graph
