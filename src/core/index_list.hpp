//! IndexList - a list of numbers that any thread may add to and that its owner takes all at once.
//!
//! push(): any thread, of any process that maps the list; take_all(): the owner only. Each number
//! has its link in an array beside the list, and may be in the list once. The list holds no
//! pointers, so it works in memory that is mapped at different addresses. Order is unspecified.
//! Used where adding is rare (mailboxes just opened to a worker). All zero is the empty list.
//!
//! Progress: push() lock-free, take_all() wait-free. Ordering labels: (N) push, (M) take. Source:
//! Treiber 1986; without a pop of single nodes there is no ABA problem.
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::core {

template <class Sync>
class BasicIndexList {
 public:
  /// The next number, counted from 1; 0 = none.
  using Link = typename Sync::template Plain<std::uint32_t>;

  /// `link` is that of `index`. It belongs to the list until the number is taken.
  void push(std::uint32_t index, Link& link) {
    // Relaxed: a guess, checked by the exchange.
    std::uint32_t newest = newest_.load(Order::relaxed);
    do {
      link.mutate() = newest;
      // (N) release, pairs with (M): the link, and all writes before the push. Failure is relaxed:
      // it refreshes the guess.
    } while (!newest_.compare_exchange(newest, index + 1, Order::release));
  }

  /// Empties the list and passes each number to consume(index). `link_of(index)` returns its link.
  template <class LinkOf, class Consume>
  void take_all(LinkOf&& link_of, Consume&& consume) {
    // (M) acquire, pairs with the (N) of every number: later pushes are read-modify-writes and so
    // continue each release sequence.
    std::uint32_t next = newest_.exchange(0, Order::acquire);
    while (next != 0) {
      const std::uint32_t index = next - 1;
      next = link_of(index).get();
      consume(index);
    }
  }

  [[nodiscard]] bool seems_empty() const {
    // Relaxed: a hint; take_all() reads again.
    return newest_.load(Order::relaxed) == 0;
  }

 private:
  typename Sync::template Atomic<std::uint32_t> newest_{0};
};

using IndexList = BasicIndexList<StdSync>;

}  // namespace sorrel::core
