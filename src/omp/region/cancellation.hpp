//! Cancellation of regions, constructs and taskgroups, for the entry points of all compilers. Only
//! with OMP_CANCELLATION. On an OpenMP thread; kinds are those of team/team.hpp, one at a time.
#pragma once

#include <cstdint>

#include "omp/sched/schedule.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/team/team.hpp"
#include "omp/team/team_thread.hpp"

namespace sorrel::omp {

/// A cancellation point: whether what encloses it is cancelled.
[[nodiscard]] inline bool meets_cancellation(const TeamThread& thread, std::uint32_t kind) {
  const Team& team = *thread.team;
  bool is_met = team.is_cancelled();
  if (kind == cancelled_taskgroup) {
    const TaskGroup* const group = thread.task->taskgroup;
    is_met = is_met || (group != nullptr && group->is_cancelled());
  } else {
    is_met = is_met || team.is_construct_cancelled(kind);
  }
  if (is_met && has_tool()) [[unlikely]] {
    tell_cancel(thread, *thread.task, kind, ompt::cancel_detected);
    thread.task->is_cancelled = kind == cancelled_taskgroup;
  }
  return is_met;
}

inline void cancel(const TeamThread& thread, std::uint32_t kind) {
  Team& team = *thread.team;
  if (kind == cancelled_taskgroup) {
    if (thread.task->taskgroup != nullptr) thread.task->taskgroup->cancel();
  } else if (kind == cancelled_parallel) {
    // Before the check for threads that wait at barriers.
    team.is_region_cancelled.exchange(true, waker_order);
    wake_all(team.inner.waiters());
  } else {
    team.cancel_construct(kind);
  }
  if (has_tool()) [[unlikely]] {
    tell_cancel(thread, *thread.task, kind, ompt::cancel_activated);
    thread.task->is_cancelled = kind == cancelled_taskgroup;
  }
}

}  // namespace sorrel::omp
