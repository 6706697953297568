//! Task - an explicit OpenMP task, or the implicit one of a thread; README.md, "Tasks".
//!
//! Made and run by threads of one team. `blockers` counts what must come before it; at 0 it goes
//! into the queue of the thread that released it. A task's memory lives until it has finished, all
//! its children's memory is gone, and no table of dependences names it. Ordering labels: (F) a
//! finished child, (B) blockers.
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

/// A set of tasks that are waited for, or cancelled, together.
struct TaskGroup {
  TaskGroup* outer = nullptr;
  std::uintptr_t* reductions = nullptr;
  /// Made for the task reductions of a region, loop or sections: no taskgroup construct.
  bool is_of_construct = false;
  std::atomic<std::uint64_t> unfinished{0};
  std::atomic<bool> has_request{false};  ///< to be cancelled

  /// Requests to cancel the group of the innermost taskgroup construct.
  void cancel() {
    // Relaxed: a request that is noticed sooner or later; nothing is read through it.
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

/// "Then this one has one blocker less."
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
  bool has_copies = false;    ///< of objects, which its body destroys
  bool has_finished = false;  ///< under `lock`
  Icv icv;
  // In a queue: under the queue's lock.
  Task* before = nullptr;
  Task* after = nullptr;

  // As a parent: `created` is its own thread's.
  std::uint32_t created = 0;
  DependTable* table = nullptr;
  /// Low half: children that have finished; high half: children whose memory is gone, less
  /// `created` once the task itself is done.
  std::atomic<std::uint64_t> family{0};

  // As one of several that depend on each other.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> blockers{1};
  std::atomic<std::uint32_t> references{1};
  /// Body and event of a task with a detach clause: what is still to come.
  std::atomic<std::uint32_t> parts{1};
  SpinLock lock;
  Successor* successors = nullptr;
  std::uint32_t predecessors = 0;  ///< counted by its maker
  Successor own_successor;         ///< its first place in somebody's list

  /// (F) acquire, pairs with finish(): what the children did.
  [[nodiscard]] bool children_done(std::memory_order order = std::memory_order_acquire) const {
    return static_cast<std::uint32_t>(family.load(order)) == created;
  }
};

/// Tasks that could run: its thread takes the newest, others the oldest. Any thread.
class TaskQueue {
 public:
  void push(Task& task);

  /// The newest, if it lies below `ancestor` (null: any will do).
  Task* pop(const Task* ancestor);

  /// The oldest, if there are at least `least`.
  Task* steal(std::uint32_t least);

  /// The newest one below `ancestor`, wherever it lies.
  Task* take_below(const Task& ancestor);

  /// Not a hint: a push that this does not see comes after what the caller did before.
  [[nodiscard]] bool is_empty() {
    lock_.lock();
    const bool is_empty = newest_ == nullptr;
    lock_.unlock();
    return is_empty;
  }

  /// How many have been pushed: whether what lies here is what lay here before.
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

/// Blocks for tasks, kept by the thread that frees them. Own thread only.
class TaskMemory {
 public:
  ~TaskMemory();
  void* take(std::size_t bytes);
  void give(void* block, std::size_t bytes);

 private:
  static constexpr std::size_t block_bytes = 512;
  static constexpr std::uint32_t kept_max = 512;

  struct Block {
    Block* next;
  };

  Block* first_ = nullptr;
  std::uint32_t kept_ = 0;
};

/// A member's part in its team's work: tasks that wait, how many it has made and finished, which
/// only it writes, and its chunks of a dynamic loop. What others look at shares no line with what
/// is its own.
struct alignas(cache_line_bytes) Desk {
  TaskQueue queue;
  alignas(cache_line_bytes) std::atomic<std::uint64_t> made{0};
  std::atomic<std::uint64_t> finished{0};
  alignas(cache_line_bytes) Batch batch;
  // Its own: how it takes batches of loop number paced_loop, whose counter it saw last at
  // chunks_begun. The pace is kept for the next loop if that is of the same shape.
  alignas(cache_line_bytes) BatchPace pace;
  std::uint64_t paced_loop = 0;
  std::uint64_t paced_count = 0;
  std::uint64_t paced_stride = 0;
  std::uint64_t chunks_begun = 0;

  void forget_loops() {
    batch.forget();
    paced_loop = 0;
  }
};

/// Whether `task` lies below `ancestor`, which is running.
[[nodiscard]] bool is_below(const Task& task, const Task& ancestor);

/// The iterations of one task of a taskloop, as values of the program's variable.
struct TaskRange {
  std::uint64_t first;
  std::uint64_t end;
};

/// What a task construct says.
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

/// Makes a task, and runs it if it may not or need not wait. May suspend.
void make_task(Thread& thread, const TaskRequest& request);

/// A task that a thread has taken out of a queue and not begun.
struct FoundTask {
  Task* task = nullptr;         ///< null: there was none that it may take yet
  std::uint64_t stolen_at = 0;  ///< cycles; 0: it lay in the thread's own queue
};

/// Takes an explicit task that any thread of the team may begin at a barrier.
[[nodiscard]] FoundTask find_any_task(Thread& thread);

/// May suspend.
void run_found_task(Thread& thread, const FoundTask& found);

/// For somebody else to run.
void give_back(Thread& thread, const FoundTask& found);

/// Finds and runs one task; false if there was none. May suspend.
bool run_any_task(Thread& thread);

/// Runs one task below `ancestor`. May suspend.
bool run_task_below(Thread& thread, const Task& ancestor);

/// Waits for the children of the current task, or for some addresses. May suspend.
void wait_for_children(Thread& thread);
void wait_for_dependences(Thread& thread, void** depend);

void begin_taskgroup(Thread& thread);
void end_taskgroup(Thread& thread);

/// The event of a detached task has come.
void fulfill(Task& task);

/// No task of the team is unfinished, if all its threads have arrived at a barrier.
[[nodiscard]] bool is_quiescent(const Team& team);

/// Makes the table of the implicit or explicit task go.
void drop_table(Thread& thread, Task& task);

}  // namespace sorrel::omp
