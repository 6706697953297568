//! WaitList - OpenMP threads that wait for a condition, and how whoever makes it true finds them.
//!
//! Any thread. A waiter adds itself unless the condition holds; a waker makes the condition true,
//! then calls wake_all() or wake_one(). Neither misses the other if the condition looks with
//! `waiter_looks` and the change is made with `waker_makes` (wait_count.hpp). A thread that was
//! woken looks again by itself.
#pragma once

#include <cstdint>

#include "omp/spin_lock.hpp"
#include "omp/wait_count.hpp"

namespace sorrel::omp {

struct Thread;

/// What is waited for. holds() looks with `waiter_looks`. It may take something (a lock): once it
/// has said true it is not asked again.
struct Condition {
  bool (*holds_of)(void* argument) = nullptr;
  void* argument = nullptr;
  /// Whom wake_one() picks; null elsewhere.
  const void* key = nullptr;

  [[nodiscard]] bool holds() const { return holds_of(argument); }
};

class WaitList {
 public:
  /// False if the condition holds; otherwise the thread is in the list (if it was not already).
  bool add_unless(Thread& thread, const Condition& condition);

  /// Takes `thread` out if it is in.
  void remove(Thread& thread);

  /// After a change made with `waker_makes`, as wake_one().
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
