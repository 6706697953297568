//! What a tool (tool/tool.hpp) learns of regions, tasks and waits, and its data in them.
//!
//! Called on an OpenMP thread, only if has_tool(). A tool gets no frames, and as the address of a
//! region or task the function that the compiler has made of it.
#pragma once

#include <cstdint>

#include "omp/tasking/task.hpp"
#include "omp/team/team.hpp"
#include "omp/team/team_thread.hpp"
#include "omp/tool/ompt.hpp"
#include "omp/tool/tool.hpp"

namespace sorrel::omp {

/// A tool's data of a task: behind an explicit task, in its block; in the team, of implicit ones.
struct ToolTask {
  ompt::Data data;
  ompt::Frame frame;
};

/// Bytes of an explicit task's block of which the last ones are a ToolTask.
[[nodiscard]] constexpr std::size_t with_tool_task(std::size_t bytes) {
  constexpr std::size_t alignment = alignof(ToolTask);
  return (bytes + alignment - 1) / alignment * alignment + sizeof(ToolTask);
}

[[nodiscard]] ToolTask& tool_task_of(const Task& task);

void tell_thread_begin(TeamThread& thread, ompt::ThreadKind kind);
void tell_thread_end(TeamThread& thread);

/// By the master, in its outer team.
void tell_parallel_begin(const TeamThread& master, Team& team);
/// By the master, back in its outer team.
void tell_parallel_end(const TeamThread& master, Team& team);

/// The thread begins its part of its team's region, or has ended it.
void tell_implicit_task(const TeamThread& thread, ompt::Endpoint end);

/// The thread begins or ends a construct in which it waits, and its wait there.
void tell_sync_region(const TeamThread& thread, ompt::Sync kind, ompt::Endpoint end);
void tell_sync_wait(TeamThread& thread, ompt::Sync kind, ompt::Endpoint end);

/// Both.
void tell_sync(TeamThread& thread, ompt::Sync kind, ompt::Endpoint end);

void tell_work(const TeamThread& thread, ompt::Work kind, ompt::Endpoint end, std::uint64_t count);

/// The task is complete but for its dependences, which `depend` lists (null: none).
void tell_task_create(const TeamThread& thread,
                      const Task& task,
                      bool is_undeferred,
                      void* const* depend);
void tell_task_schedule(const Task& before, ompt::TaskStatus status, const Task& next);

/// kind: what is cancelled (team/team.hpp). The task is that which cancels or notices, or the one
/// that is discarded.
void tell_cancel(const Task& task, std::uint32_t kind, ompt::CancelFlag event);

void tell_acquire(TeamThread& thread, ompt::Mutex kind, const void* mutex);
void tell_acquired(TeamThread& thread, ompt::Mutex kind, const void* mutex);
void tell_released(ompt::Mutex kind, const void* mutex);

}  // namespace sorrel::omp
