//! WaitList - OpenMP threads that wait for a condition, and how a waker finds them.
//!
//! Any thread. A waiter adds itself unless the condition holds; a waker makes the condition true,
//! then calls wake_all() or wake_one() (schedule.hpp). Neither misses the other if the condition is
//! loaded with `waiter_order` and changed with `waker_order` (wait_count.hpp). A thread that was
//! woken checks its condition again.
#pragma once

#include <cstdint>

#include "omp/kernel/spin_lock.hpp"
#include "omp/kernel/wait_count.hpp"
#include "omp/sched/thread.hpp"

namespace sorrel::omp {

class WaitList {
 public:
  /// False if the condition holds; otherwise the thread is in the list (if not already).
  bool add_unless(Thread& thread, const Condition& condition);

  /// Takes `thread` out, to be made ready; false if it is not in.
  bool take_thread(Thread& thread);

  /// Read after a change made with `waker_order`: then a thread that does not see it is in the
  /// list.
  [[nodiscard]] bool seems_empty() const { return count_.seems_zero(); }

  /// Takes out the threads with `key` (null: any), or the first of them. Native threads are passed
  /// to wake_native() at once; the fibers are returned, linked by `next_woken`.
  Thread* take(const void* key, bool only_one, void (*wake_native)(Thread&));

 private:
  Thread* unlink(Thread* before, Thread& thread);

  WaitCount count_;
  SpinLock lock_;
  Thread* first_ = nullptr;
  Thread* last_ = nullptr;
};

}  // namespace sorrel::omp
