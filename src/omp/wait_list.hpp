//! WaitList - OpenMP threads that wait for a condition, and how a waker finds them.
//!
//! Any thread. A waiter adds itself unless the condition holds; a waker makes the condition true,
//! then calls wake_all() or wake_one(). Neither misses the other if the condition is loaded with
//! `waiter_order` and changed with `waker_order` (wait_count.hpp). A thread that was woken checks
//! its condition again.
#pragma once

#include <cstdint>

#include "omp/spin_lock.hpp"
#include "omp/wait_count.hpp"

namespace sorrel::omp {

struct Thread;

/// A condition to wait for. holds() loads with `waiter_order`. It may acquire something (a lock):
/// after it has returned true, it is not called again.
struct Condition {
  bool (*holds_of)(void* argument) = nullptr;
  void* argument = nullptr;
  /// Selects the threads that wake_one() wakes; null elsewhere.
  const void* key = nullptr;

  [[nodiscard]] bool holds() const { return holds_of(argument); }
};

class WaitList {
 public:
  /// False if the condition holds; otherwise the thread is in the list (if not already).
  bool add_unless(Thread& thread, const Condition& condition);

  /// Takes `thread` out if it is in.
  void remove(Thread& thread);

  /// After a change made with `waker_order`, as wake_one().
  void wake_all() {
    if (!count_.seems_zero()) [[unlikely]]
      wake(nullptr, false);
  }

  void wake_one(const void* key) {
    if (!count_.seems_zero()) wake(key, true);
  }

 private:
  void wake(const void* key, bool only_one);
  Thread* unlink(Thread* before, Thread& thread);

  WaitCount count_;
  SpinLock lock_;
  Thread* first_ = nullptr;
  Thread* last_ = nullptr;
};

}  // namespace sorrel::omp
