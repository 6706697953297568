//! Task - an explicit OpenMP task, or the implicit one of a thread; README.md, "Tasks".
//!
//! Created and run by threads of one team. `blockers` counts unfinished predecessors; at 0 the task
//! goes into the queue of the thread that released it. The memory of a task lives until the task
//! has finished, the memory of all its children is freed, and no dependence table refers to it.
//! Ordering labels: (F) a finished child, (B) blockers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "omp/batch.hpp"
#include "omp/icv.hpp"
#include "omp/spin_lock.hpp"
#include "omp/wait_list.hpp"

namespace sorrel::omp {

class DependTable;
struct Task;
struct Team;
struct Thread;

/// A set of tasks that are awaited, or cancelled, together.
struct TaskGroup {
  TaskGroup* outer = nullptr;
  std::uintptr_t* reductions = nullptr;
  /// Created for the task reductions of a region, loop or sections: no taskgroup construct.
  bool is_of_construct = false;
  std::atomic<std::uint64_t> unfinished{0};
  std::atomic<bool> has_request{false};  ///< to be cancelled

  /// Requests to cancel the group of the innermost taskgroup construct.
  void cancel() {
    // Relaxed: a request that may take effect later; nothing is read through it.
    construct_group().has_request.store(true, std::memory_order_relaxed);
  }

  [[nodiscard]] bool is_cancelled() const {
    return has_request.load(std::memory_order_relaxed) ||
           (is_of_construct && outer != nullptr &&
            outer->has_request.load(std::memory_order_relaxed));
  }

 private:
  TaskGroup& construct_group() { return is_of_construct && outer != nullptr ? *outer : *this; }
};

/// An entry in a task's list of tasks to unblock.
struct Successor {
  Task* task = nullptr;
  Successor* next = nullptr;
  bool is_inline = false;
};

struct alignas(cache_line_bytes) Task {
  void (*body)(void*) = nullptr;
  void* data = nullptr;
  Task* parent = nullptr;
  TaskGroup* taskgroup = nullptr;
  Team* team = nullptr;
  std::uint32_t level = 0;  ///< 0: implicit
  std::uint32_t bytes = 0;  ///< of its block of memory
  bool is_final = false;
  bool has_dependences = false;
  bool is_detached = false;
  bool has_copies = false;    ///< its body destroys copies of objects
  bool has_finished = false;  ///< under `lock`
  Icv icv;
  // In a queue: under the queue's lock.
  Task* before = nullptr;
  Task* after = nullptr;

  // As a parent: `created` is accessed only by the task's own thread.
  std::uint32_t created = 0;
  DependTable* table = nullptr;
  /// Low half: children that have finished; high half: children whose memory is freed, less
  /// `created` once the task itself is done.
  std::atomic<std::uint64_t> family{0};

  // As a task with dependences.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> blockers{1};
  std::atomic<std::uint32_t> references{1};
  /// Unfinished parts of a task with a detach clause: body and event.
  std::atomic<std::uint32_t> parts{1};
  SpinLock lock;
  Successor* successors = nullptr;
  std::uint32_t predecessors = 0;  ///< counted by the thread that creates it
  Successor own_successor;         ///< its first entry in a predecessor's list

  /// (F) acquire, pairs with finish(): the effects of the children.
  [[nodiscard]] bool children_done(std::memory_order order = std::memory_order_acquire) const {
    return static_cast<std::uint32_t>(family.load(order)) == created;
  }
};

/// Ready tasks: the queue's thread takes the newest, other threads the oldest. Any thread.
class TaskQueue {
 public:
  void push(Task& task);

  /// The newest, if it is a descendant of `ancestor` (null: any).
  Task* pop(const Task* ancestor);

  /// The oldest, if there are at least `least`.
  Task* steal(std::uint32_t least);

  /// The newest descendant of `ancestor`, at any position.
  Task* take_below(const Task& ancestor);

  /// Exact: a push that this does not see comes after what the caller did before.
  [[nodiscard]] bool is_empty() {
    lock_.lock();
    const bool is_empty = newest_ == nullptr;
    lock_.unlock();
    return is_empty;
  }

  /// Number of pushes: tells whether the contents are the same as before.
  [[nodiscard]] std::uint64_t push_count() const {
    return push_count_.load(std::memory_order_relaxed);  // a hint
  }

  [[nodiscard]] std::uint32_t seems() const {
    return count_.load(std::memory_order_relaxed);  // a hint
  }

 private:
  void unlink(Task& task);

  alignas(cache_line_bytes) std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint64_t> push_count_{0};
  SpinLock lock_;
  Task* newest_ = nullptr;
  Task* oldest_ = nullptr;
};

/// The state of a member in its team: queued tasks, counts of tasks made and finished, which only
/// the member writes, and its chunks of a dynamic loop. Data that other threads read shares no line
/// with private data.
struct alignas(cache_line_bytes) MemberState {
  TaskQueue queue;
  alignas(cache_line_bytes) std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> finished{0};
  alignas(cache_line_bytes) Batch batch;
  // Private: the batch size of loop number tuned_loop, whose counter was last seen at chunks_begun.
  // It is kept for the next loop if that has the same shape.
  alignas(cache_line_bytes) BatchTuner batch_tuner;
  std::uint64_t tuned_loop = 0;
  std::uint64_t tuned_count = 0;
  std::uint64_t tuned_stride = 0;
  std::uint64_t chunks_begun = 0;

  void forget_loops() {
    batch.forget();
    tuned_loop = 0;
  }
};

/// Whether `task` is a descendant of `ancestor`, which is running.
[[nodiscard]] bool is_below(const Task& task, const Task& ancestor);

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
  /// Of a taskloop: the first two words of the task's data. They are written after `copy` has run,
  /// which does not fill them.
  const TaskRange* range = nullptr;
};

inline constexpr std::uint32_t task_untied = 1U << 0;
inline constexpr std::uint32_t task_final = 1U << 1;
inline constexpr std::uint32_t task_depend = 1U << 3;
inline constexpr std::uint32_t task_up = 1U << 8;
inline constexpr std::uint32_t task_grainsize = 1U << 9;
inline constexpr std::uint32_t task_if = 1U << 10;
inline constexpr std::uint32_t task_nogroup = 1U << 11;
inline constexpr std::uint32_t task_reduction = 1U << 12;
inline constexpr std::uint32_t task_detach = 1U << 13;

/// Creates a task, and runs it at once if it cannot or need not be deferred. May suspend.
void make_task(Thread& thread, const TaskRequest& request);

/// A task that a thread has taken out of a queue and has not begun.
struct FoundTask {
  Task* task = nullptr;         ///< null: there was none that it may take now
  std::uint64_t stolen_at = 0;  ///< cycles; 0: it was in the thread's own queue
};

/// Takes an explicit task that any thread of the team may begin at a barrier.
[[nodiscard]] FoundTask find_any_task(Thread& thread);

/// May suspend.
void run_found_task(Thread& thread, const FoundTask& found);

/// Queues the task again, for another thread.
void requeue(Thread& thread, const FoundTask& found);

/// Finds and runs one task; false if there was none. May suspend.
bool run_any_task(Thread& thread);

/// Runs one descendant of `ancestor`. May suspend.
bool run_task_below(Thread& thread, const Task& ancestor);

/// Waits for the children of the current task, or for some addresses. May suspend.
void wait_for_children(Thread& thread);
void wait_for_dependences(Thread& thread, void** depend);

void begin_taskgroup(Thread& thread);
void end_taskgroup(Thread& thread);

/// The event of a detached task has occurred.
void fulfill(Thread& thread, Task& task);

/// No task of the team is unfinished, if all its threads have arrived at a barrier.
[[nodiscard]] bool is_quiescent(const Team& team);

/// Releases the dependence table of the implicit or explicit task.
void drop_table(Thread& thread, Task& task);

}  // namespace sorrel::omp
