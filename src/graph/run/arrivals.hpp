//! Arrivals - counts what a task waits for: its predecessors, and the gate of its step.
//!
//! Any thread may arrive(), each predecessor once; the one that is told "last" starts the task, and
//! has seen what all the others did. Then the count is 0 again, ready for a later step: who sends
//! arrivals there comes after the task (README.md). All zero = nobody has arrived, so a graph's
//! counters are zero pages until they are used.
//!
//! Progress: wait-free. Ordering labels: (A) those who come before the last, (Z) the last.
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::graph {

using core::Order;

template <class Sync>
class BasicArrivals {
 public:
  /// Whether this is the last of `expected`, at least 1.
  bool arrive(std::uint32_t expected) {
    // (Z) acquire, pairs with every (A): later arrivals are read-modify-writes and so continue each
    // one's release sequence. With all others here, nobody else will touch the count: no exchange.
    if (count_.load(Order::acquire) + 1 != expected &&
        // (A) release, and (Z) acquire for the one that turns out to be the last.
        count_.fetch_add(1, Order::acq_rel) + 1 != expected)
      return false;
    // Relaxed: whoever arrives next comes after the task that starts now.
    count_.store(0, Order::relaxed);
    return true;
  }

  /// When nobody is near.
  void clear() { count_.store(0, Order::relaxed); }

 private:
  typename Sync::template Atomic<std::uint32_t> count_{0};
};

using Arrivals = BasicArrivals<core::StdSync>;

}  // namespace sorrel::graph
