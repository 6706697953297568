//! TaskFlag - whether a team may have tasks that no thread has begun.
//!
//! A thread that has queued a task raises the flag if it is down. A thread that has found no task
//! lowers it, and then checks every queue again, under its lock. So the flag is up while a task is
//! queued: if the producer held the lock before the lowering thread, its task is seen; if after,
//! the producer sees the flag down. Any thread. Lock-free except for the queues' locks. Ordering
//! label: (K) raise and lower.
#pragma once

#include <cstdint>

#include "base/cache_line.hpp"
#include "core/sync.hpp"

namespace sorrel::omp {

struct TaskFlagOrders {
  static constexpr core::Order raise = core::Order::seq_cst;
};

template <class Sync, class Orders = TaskFlagOrders>
class BasicTaskFlag {
 public:
  /// The caller has queued a task. Afterwards it checks for sleepers.
  void raise() {
    // Relaxed: the queue's lock orders it after a lowering that it must not miss. (K) seq_cst:
    // before the check for sleepers, which announce their sleep before they read the flag.
    if (is_up_.load(core::Order::relaxed) == 0) is_up_.store(1, Orders::raise);
  }

  /// Lowers it unless has_queued(), which takes each queue's lock. Returns whether it stays down:
  /// if not, the caller checks for sleepers.
  template <class HasQueued>
  bool lower(HasQueued has_queued) {
    // Relaxed: the queues' locks order it; a sleeper that sees it is woken below, or by raise().
    is_up_.store(0, core::Order::relaxed);
    if (!has_queued()) return true;
    is_up_.store(1, Orders::raise);
    return false;
  }

  /// At the end of a region, when no task is left. A thread that lowers it meanwhile finds none,
  /// or one of the next region.
  void clear() { is_up_.store(0, core::Order::relaxed); }

  /// By a thread that has announced its sleep.
  [[nodiscard]] bool is_up() const { return is_up_.load(core::Order::seq_cst) != 0; }

  /// A hint.
  [[nodiscard]] bool seems_up() const { return is_up_.load(core::Order::relaxed) != 0; }

 private:
  typename Sync::template Atomic<std::uint32_t> is_up_;
};

class alignas(cache_line_bytes) TaskFlag : public BasicTaskFlag<core::StdSync> {};

}  // namespace sorrel::omp
