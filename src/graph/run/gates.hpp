//! Gates - which steps may begin, and the roots of later ones that are ready but for that.
//!
//! Steps are done in order; step s may begin when step s - window is done. is_open(), park(),
//! release_all() and note_done(): any thread, the last by one at a time. A root that finds its gate
//! closed is parked by its number, which is in the list once at most, with a link beside it.
//! Whoever opens a gate, or parks too late for that, releases all that are parked and parks again
//! those of a step further on.
//!
//! Progress: is_open() and note_done() wait-free, park() lock-free. Ordering labels: (P) park, (O)
//! open, (S) the number of steps done. Source: the list is Treiber's of 1986 without a single pop.
#pragma once

#include <cstdint>

#include "base/cache_line.hpp"
#include "core/sync.hpp"

namespace sorrel::graph {

using core::Order;

template <class Sync>
class BasicGates {
 public:
  /// The number that follows, counted from 1; 0 = none.
  using Link = typename Sync::template Plain<std::uint32_t>;

  explicit BasicGates(std::uint64_t window = 1) : window_(window) {}

  /// When nobody is near: nothing is done or parked.
  void begin() {
    done_.store(0, Order::relaxed);
    newest_.store(0, Order::relaxed);
  }

  /// How many steps are done.
  [[nodiscard]] std::uint64_t done() const {
    // (S) acquire, pairs with note_done(): all effects of those steps.
    return done_.load(Order::acquire);
  }

  [[nodiscard]] bool is_open(std::uint64_t step) const { return step < done() + window_; }

  /// Step `count` - 1 is done, and so are those before it. The caller then releases what is parked.
  void note_done(std::uint64_t count) {
    // (S) release: what the step has done.
    done_.store(count, Order::release);
  }

  /// A root whose gate was closed. False if it has opened since: the caller then releases what is
  /// parked, since the opener may have looked before.
  [[nodiscard]] bool park(std::uint32_t number, std::uint64_t step, Link& link) {
    std::uint32_t newest = newest_.load(Order::relaxed);
    do {
      link.mutate() = newest;
      // (P) release: the link, and what made the root ready. Acquire: if an opener's exchange came
      // before, (O), we see that the gate is open; else that exchange sees us.
    } while (!newest_.compare_exchange(newest, number + 1, Order::acq_rel));
    return !is_open(step);
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
  // Who parks does not take the line that every root reads.
  alignas(cache_line_bytes) typename Sync::template Atomic<std::uint32_t> newest_{0};
};

using Gates = BasicGates<core::StdSync>;

}  // namespace sorrel::graph
