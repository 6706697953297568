//! TaskFlag - whether a team may have tasks that nobody has begun.
//!
//! Raised by who has queued one, if it is down; lowered by who has found none, and who then looks
//! once more, into every queue, under its lock. So the flag is up while a task lies in a queue: if
//! the one who queues had the lock before the one who lowers, he is seen; if after, he sees the
//! flag down. Any thread. Lock-free but for the queues' locks. Ordering label: (K) raise and lower.
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
  /// The caller has queued a task. It then looks for those who sleep.
  void raise() {
    // Relaxed: the queue's lock orders it behind the lowering it must not miss. (K) seq_cst: before
    // the look at sleepers, who have announced themselves before they look here.
    if (is_up_.load(core::Order::relaxed) == 0) is_up_.store(1, Orders::raise);
  }

  /// Lowers it unless has_queued(), which takes each queue's lock. Whether it stays down: if not,
  /// the caller looks for those who sleep.
  template <class HasQueued>
  bool lower(HasQueued has_queued) {
    // Relaxed: the queues' locks order it; a sleeper that sees it is woken below, or by raise().
    is_up_.store(0, core::Order::relaxed);
    if (!has_queued()) return true;
    is_up_.store(1, Orders::raise);
    return false;
  }

  /// Of one who has announced that he will sleep.
  [[nodiscard]] bool is_up() const { return is_up_.load(core::Order::seq_cst) != 0; }

  /// A hint.
  [[nodiscard]] bool seems_up() const { return is_up_.load(core::Order::relaxed) != 0; }

 private:
  typename Sync::template Atomic<std::uint32_t> is_up_;
};

class alignas(cache_line_bytes) TaskFlag : public BasicTaskFlag<core::StdSync> {};

}  // namespace sorrel::omp
