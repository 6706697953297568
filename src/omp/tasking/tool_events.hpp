//! What a tool (tool/tool.hpp) learns of regions, tasks and waits, and its data in them.
//!
//! Called on an OpenMP thread, only if has_tool(), except the two classes. The address of a
//! construct is that to which its call of this library returns.
#pragma once

#include <cstdint>
#include <optional>

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
  unsigned flags;         ///< ompt::TaskFlag
  ompt::LoopChunk chunk;  ///< of a taskloop's task; iterations 0: it is none
  const Task* context;    ///< of an explicit task that has begun: the one that its thread had then
};

/// Bytes of an explicit task's block of which the last ones are a ToolTask.
[[nodiscard]] constexpr std::size_t with_tool_task(std::size_t bytes) {
  constexpr std::size_t alignment = alignof(ToolTask);
  return (bytes + alignment - 1) / alignment * alignment + sizeof(ToolTask);
}

[[nodiscard]] ToolTask& tool_task_of(const Task& task);

/// The function that contains it calls the code of the thread's task: the task's exit frame.
class TaskCall {
 public:
  [[gnu::always_inline]] explicit TaskCall(const TeamThread& thread) {
    if (has_tool()) [[unlikely]]
      frame_ = &begin(thread, __builtin_frame_address(0));
  }

  [[gnu::always_inline]] ~TaskCall() {
    if (frame_ != nullptr) [[unlikely]]
      end(*frame_);
  }

  TaskCall(const TaskCall&) = delete;
  TaskCall& operator=(const TaskCall&) = delete;

  static ompt::Frame& begin(const TeamThread& thread, void* frame);
  static void end(ompt::Frame& frame);

 private:
  ompt::Frame* frame_ = nullptr;
};

void tell_thread_begin(TeamThread& thread, ompt::ThreadKind kind);
void tell_thread_end(TeamThread& thread);

/// By the master, in its outer team.
void tell_parallel_begin(const TeamThread& master, Team& team, std::uint32_t requested_size);
/// By the master, back in its outer team.
void tell_parallel_end(const TeamThread& master, Team& team);

/// The thread begins its part of its team's region, or has ended it.
void tell_implicit_task(const TeamThread& thread, ompt::Endpoint end);

/// The code of the thread's task follows the call of this library whose frame is given.
void tell_called_by_program(const TeamThread& thread, void* frame);

/// A league of teams that run one after another on the thread, in place of its own task. While it
/// exists, the data of the team and of the task are the league's.
class ToldLeague {
 public:
  ToldLeague(TeamThread& thread, std::uint32_t team_count);
  ~ToldLeague();
  ToldLeague(const ToldLeague&) = delete;
  ToldLeague& operator=(const ToldLeague&) = delete;

  /// The current team begins or has ended.
  void tell_team(ompt::Endpoint end);

 private:
  TeamThread& thread_;
  ToolTask outer_task_;
  ompt::Data outer_parallel_;
  ompt::Data league_{};
};

/// The thread begins or ends a construct in which it waits, and its wait there.
void tell_sync_region(const TeamThread& thread, ompt::Sync kind, ompt::Endpoint end);
void tell_sync_wait(TeamThread& thread, ompt::Sync kind, ompt::Endpoint end);

/// Both.
void tell_sync(TeamThread& thread, ompt::Sync kind, ompt::Endpoint end);

/// The thread combines its values of a reduction, or has done so.
void tell_reduction(TeamThread& thread, ompt::Endpoint end);

void tell_work(const TeamThread& thread, ompt::Work kind, ompt::Endpoint end, std::uint64_t count);
/// The thread begins a part of a construct: a section, or a chunk of a loop.
void tell_dispatch(const TeamThread& thread, ompt::Work kind, const ompt::LoopChunk& chunk);
/// A single construct begins: the thread runs its block, or has no part of it.
void tell_single_begin(TeamThread& thread, bool is_own);
/// The block has ended, if the thread runs one.
void tell_single_end(TeamThread& thread);
void tell_masked(const TeamThread& thread, ompt::Endpoint end);
void tell_flush(TeamThread& thread);
void tell_error(const TeamThread& thread, ompt::Severity severity, const char* text, std::size_t n);

/// What the tool answers to omp_control_tool(); nothing: it has no callback for that.
[[nodiscard]] std::optional<int> tell_control(const TeamThread& thread,
                                              std::uint64_t command,
                                              std::uint64_t modifier,
                                              void* argument);

/// The task is complete but for its dependences, which `depend` lists (null: none). flags:
/// ompt::TaskFlag besides task_explicit.
void tell_task_create(const TeamThread& thread,
                      const Task& task,
                      unsigned flags,
                      void* const* depend);
void tell_task_schedule(const Task& before, ompt::TaskStatus status, const Task& next);
/// The event of a task with a detach clause has been fulfilled.
void tell_fulfill(const Task& task, ompt::TaskStatus status);
/// `after` cannot begin before `before` has finished.
void tell_task_dependence(const Task& before, const Task& after);

/// A taskwait with dependences: a task without code, from its beginning to its end.
class ToldTaskwait {
 public:
  ToldTaskwait(const TeamThread& thread, void* const* depend);
  ~ToldTaskwait();
  ToldTaskwait(const ToldTaskwait&) = delete;
  ToldTaskwait& operator=(const ToldTaskwait&) = delete;

 private:
  const TeamThread& thread_;
  ompt::Data data_{};
};

/// An iteration of a doacross loop waits for another one, or has done what others wait for.
void tell_doacross(const TeamThread& thread,
                   ompt::DependenceKind kind,
                   const std::uint64_t* iterations,
                   std::size_t count);

/// kind: what is cancelled (team/team.hpp). The task is that which cancels or notices, or the one
/// that is discarded.
void tell_cancel(const TeamThread& thread,
                 const Task& task,
                 std::uint32_t kind,
                 ompt::CancelFlag event);

void tell_lock_init(const TeamThread& thread, ompt::Mutex kind, unsigned hint, const void* mutex);
void tell_lock_destroy(const TeamThread& thread, ompt::Mutex kind, const void* mutex);
void tell_acquire(TeamThread& thread, ompt::Mutex kind, const void* mutex);
void tell_acquired(TeamThread& thread, ompt::Mutex kind, const void* mutex);
/// The lock was not free.
void tell_not_acquired(TeamThread& thread);
void tell_released(const TeamThread& thread, ompt::Mutex kind, const void* mutex);
/// The owner of a nest lock has taken it once more, or has given it back once.
void tell_nest_lock(const TeamThread& thread, ompt::Endpoint end, const void* mutex);

/// The tool's own number and data of a target construct.
struct ToldTarget {
  ompt::Target kind;
  std::uint64_t id = 0;
  ompt::Data data{};
};

void tell_target(const TeamThread& thread, ToldTarget& target, ompt::Endpoint end);
/// The initial task of a target region begins, or has ended.
void tell_target_submit(ToldTarget& target, ompt::Endpoint end, std::uint32_t team_count);

}  // namespace sorrel::omp
