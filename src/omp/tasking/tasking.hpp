//! Tasking - how tasks are created, found, run and awaited; README.md, "Tasks".
//!
//! Called on an OpenMP thread. Ordering labels: (F) a finished child, (B) blockers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "omp/tasking/task.hpp"
#include "omp/team/team_thread.hpp"

namespace sorrel::omp {

/// The iterations of one task of a taskloop, as values of the program's variable.
struct TaskRange {
  std::uint64_t first;
  std::uint64_t end;
};

/// The clauses of a task construct.
struct TaskRequest {
  void (*body)(void*) = nullptr;
  void* data = nullptr;
  void (*copy)(void*, void*) = nullptr;
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  bool is_deferrable = true;
  std::uint32_t flags = 0;
  void** depend = nullptr;
  void** detach = nullptr;
  /// The range of a taskloop: the first two words of the task's data. Written after `copy` has run,
  /// which does not fill them.
  const TaskRange* range = nullptr;
  bool must_run_body = false;    ///< also when the task is cancelled
  bool is_target = false;        ///< of a target construct
  bool ends_with_event = false;  ///< undeferred: its creator waits for its event, too
  bool keeps_data = false;       ///< the first word of `data` is no place for the task's event
};

inline constexpr std::uint32_t task_untied = 1U << 0;
inline constexpr std::uint32_t task_final = 1U << 1;
inline constexpr std::uint32_t task_mergeable = 1U << 2;
inline constexpr std::uint32_t task_depend = 1U << 3;
inline constexpr std::uint32_t task_up = 1U << 8;
inline constexpr std::uint32_t task_grainsize = 1U << 9;
inline constexpr std::uint32_t task_if = 1U << 10;
inline constexpr std::uint32_t task_nogroup = 1U << 11;
inline constexpr std::uint32_t task_reduction = 1U << 12;
inline constexpr std::uint32_t task_detach = 1U << 13;
inline constexpr std::uint32_t task_strict = 1U << 14;

/// Creates a task, and runs it at once if it cannot or need not be deferred. False: its group is
/// cancelled, and there is none. May suspend.
bool make_task(TeamThread& thread, const TaskRequest& request);

/// A task whose body the caller runs itself, until end_included_task(). With task_detach, it is
/// finished when its event is fulfilled, too.
Task& begin_included_task(TeamThread& thread, std::uint32_t flags);
void end_included_task(TeamThread& thread, Task& task);

/// Whether the body of the current task need not be run.
[[nodiscard]] bool is_current_task_cancelled(const TeamThread& thread);

/// A task that a thread has taken out of a queue and has not begun.
struct FoundTask {
  Task* task = nullptr;         ///< null: there was none that it may take now
  std::uint64_t stolen_at = 0;  ///< cycles; 0: it was in the thread's own queue
};

/// Takes an explicit task that any thread of the team may begin at a barrier.
[[nodiscard]] FoundTask find_any_task(TeamThread& thread);

/// May suspend.
void run_found_task(TeamThread& thread, const FoundTask& found);

/// Queues the task again, for another thread.
void requeue(TeamThread& thread, const FoundTask& found);

/// Finds and runs one task; false if there was none. May suspend.
bool run_any_task(TeamThread& thread);

/// Runs one descendant of `ancestor`. May suspend.
bool run_task_below(TeamThread& thread, const Task& ancestor);

/// The taskwait construct: waits for the children of the current task, or for those that `depend`
/// names. May suspend.
void wait_for_children(TeamThread& thread);
void wait_for_children(TeamThread& thread, void** depend);
/// Waits for those children as a part of another construct. May suspend.
void wait_for_dependences(TeamThread& thread, void** depend);

void begin_taskgroup(TeamThread& thread);
/// Returns the group's llvm_reduction.
void* end_taskgroup(TeamThread& thread);

/// The event of a detached task has occurred.
void fulfill(TeamThread& thread, Task& task);

/// No task of the team is unfinished, if all its threads have arrived at a barrier.
[[nodiscard]] bool is_quiescent(const Team& team);

/// Releases the dependence table of the implicit or explicit task.
void drop_table(TeamThread& thread, Task& task);

}  // namespace sorrel::omp
