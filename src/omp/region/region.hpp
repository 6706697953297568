//! Regions - fork, join and barriers of parallel regions, and the fibers' part of them.
//!
//! At the end of a region, a thread of the outermost level does not wait: it arrives and docks, and
//! its worker searches for other work. So a worker that loses its core there holds nothing that the
//! next region needs. Only the master waits, until all have arrived.
#pragma once

#include <cstdint>

#include "omp/sched/group.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/team/team.hpp"
#include "omp/team/team_thread.hpp"
#include "omp/team/work_share.hpp"

namespace sorrel::omp {

/// The arguments of a fork.
struct Fork {
  void (*body)(void*) = nullptr;
  void* data = nullptr;
  std::uint32_t thread_count = 0;   ///< of the num_threads clause; 0: none
  const LoopShape* loop = nullptr;  ///< in which all its threads begin
  TaskGroup* region_taskgroup = nullptr;
  const ThreadList* thread_list = nullptr;  ///< for regions inside
};

/// The number of threads of a region of `thread`.
[[nodiscard]] std::uint32_t resolve_team_size(const TeamThread& thread, std::uint32_t asked);

/// Makes the caller master of a team whose other threads run `body`.
Team& begin_region(TeamThread& thread, const Fork& fork, std::uint32_t size);

/// The master's part is done: waits for the other threads, restores the master's outer state.
void end_region(TeamThread& thread);

/// Calls the code of the thread's task.
[[gnu::always_inline]] inline void call_task(const TeamThread& thread,
                                             void (*body)(void*),
                                             void* data) {
  const TaskCall call(thread);
  body(data);
}

/// Waits for the team. May suspend. True if `is_cancellable` and the region was cancelled
/// meanwhile.
bool wait_at_barrier(TeamThread& thread, bool is_cancellable = false);

/// The regions' side of fibers, for new groups.
extern const TeamHooks team_hooks;

/// Runs `body` as a target region on the host: the caller becomes the initial thread of a device,
/// which is in no region and has the control variables of the environment, until it returns.
/// thread_limit 0: the environment's. May suspend.
void run_on_initial_thread(TeamThread& thread,
                           void (*body)(void*),
                           void* data,
                           std::uint32_t thread_limit);

/// A tool sees the native thread from here on.
void observe_native(TeamThread& thread);

/// The tool ends: it learns so of the calling thread, if that is a native one in no region.
void tell_thread_end();

/// The team of a native thread that is in no region.
Team& make_initial_team(TeamThread& thread);

}  // namespace sorrel::omp
