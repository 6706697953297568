//! DependencyCounter - counts the satisfied dependencies of a task: its predecessors, and the
//! admission of its step.
//!
//! Any thread may arrive(), once for each predecessor. The thread whose arrive() returns true
//! starts the task, and has seen the effects of all predecessors. The count is then 0 again, for a
//! later step: threads that increment it for that step run after the task (README.md). Zero is the
//! initial state, so the counters of a graph are zero pages until they are used.
//!
//! Progress: wait-free. Ordering labels: (A) increments before the last, (Z) the last one.
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::graph {

using core::Order;

template <class Sync>
class BasicDependencyCounter {
 public:
  /// Returns whether this is the last of `expected` increments; `expected` is at least 1.
  bool arrive(std::uint32_t expected) {
    // (Z) acquire, pairs with every (A): later increments are read-modify-writes and so continue
    // each release sequence. After all other increments no thread touches the count: no exchange.
    if (count_.load(Order::acquire) + 1 != expected &&
        // (A) release, and (Z) acquire for the increment that turns out to be the last.
        count_.fetch_add(1, Order::acq_rel) + 1 != expected)
      return false;
    // Relaxed: the next increment comes after the task that starts now.
    count_.store(0, Order::relaxed);
    return true;
  }

  /// While no other thread uses the counter.
  [[nodiscard]] bool is_zero() const { return count_.load(Order::relaxed) == 0; }

  /// While no other thread uses the counter.
  void clear() { count_.store(0, Order::relaxed); }

 private:
  typename Sync::template Atomic<std::uint32_t> count_{0};
};

using DependencyCounter = BasicDependencyCounter<core::StdSync>;

}  // namespace sorrel::graph
