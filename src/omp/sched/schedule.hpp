//! Scheduling - how OpenMP threads wait, are woken, and let others run.
//!
//! Called on an OpenMP thread; wake_all() and wake_one() by any thread.
#pragma once

#include "omp/sched/thread.hpp"
#include "omp/sched/wait_list.hpp"

namespace sorrel::omp {

/// Makes the threads of `list` with `key` ready (null: any), or the first of them. They check their
/// conditions again.
void make_waiters_ready(WaitList& list, const void* key, bool only_one);

/// After a change of the condition with `waker_order`, as wake_one().
inline void wake_all(WaitList& list) {
  if (!list.seems_empty()) [[unlikely]]
    make_waiters_ready(list, nullptr, false);
}

inline void wake_one(WaitList& list, const void* key) {
  if (!list.seems_empty()) make_waiters_ready(list, key, true);
}

/// Makes a suspended fiber ready if it is in its list: it checks its condition again.
bool wake_for_nothing(Thread& fiber);

/// Waits until the condition holds. The thread that changes it wakes `list` afterwards. Other
/// OpenMP threads of the group run meanwhile. May suspend.
void wait_until(Thread& thread, WaitList& list, const Condition& condition);

/// Whether another thread is ready to run on the same worker.
[[nodiscard]] bool may_others_run(const Thread& thread);

/// Lets other OpenMP threads run. May suspend.
void yield(Thread& thread);

/// Migrates the calling fiber to the main thread of its rank, where it may call MPI until it is
/// switched out. False if the native thread of its group is no rank. May suspend.
bool run_on_main_thread();

}  // namespace sorrel::omp
