//! QueuedStart - starts a docked fiber through the ready queue, also if it has not docked yet.
//!
//! A fiber that waits at the end of a region is woken when the barrier opens. The master may begin
//! the next region before the fiber has run, and docked. Then the fiber's worker queues it when it
//! docks. So a fiber is in the queue once. One word holds both sides' news; each side changes it by
//! read-modify-write, and the second one queues the fiber. Two threads: the one that starts the
//! fiber, and the fiber's worker. Wait-free. Ordering labels: (T) start, (V) dock.
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::omp {

struct QueuedStartOrders {
  static constexpr core::Order start = core::Order::acq_rel;
  static constexpr core::Order dock = core::Order::acq_rel;
};

template <class Sync, class Orders = QueuedStartOrders>
class BasicQueuedStart {
 public:
  /// By the thread that starts the fiber, once for each implicit task. True: the fiber is docked,
  /// and the caller queues it.
  bool start() {
    // (T) releases the region to the worker, pairs with (V); acquires what the worker did.
    if (state_.exchange(wanted, Orders::start) != docked) return false;
    state_.store(busy, core::Order::relaxed);  // The worker is done with it.
    return true;
  }

  /// By the fiber's worker, after it has given up the fiber as docked. True: a start has come, and
  /// the caller queues the fiber.
  bool dock() {
    // (V) as (T).
    if (state_.exchange(docked, Orders::dock) != wanted) return false;
    state_.store(busy, core::Order::relaxed);  // The starter is done with it.
    return true;
  }

  /// Whether the worker has done with the fiber, which no thread starts.
  [[nodiscard]] bool is_docked() const { return state_.load(core::Order::acquire) == docked; }

 private:
  static constexpr std::uint32_t docked = 0;
  static constexpr std::uint32_t busy = 1;    ///< started, and not docked since
  static constexpr std::uint32_t wanted = 2;  ///< busy, and to be started again

  typename Sync::template Atomic<std::uint32_t> state_{docked};
};

using QueuedStart = BasicQueuedStart<core::StdSync>;

}  // namespace sorrel::omp
