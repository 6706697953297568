//! Thread - an OpenMP thread: a fiber with a thread control block of its own, or a thread of the
//! program (native) that runs parallel regions.
//!
//! A fiber is in one of three states. *Docked*: between two implicit tasks; the thread that changes
//! the state to running (D) may resume it. *Suspended*: in a wait list or a ready queue; the thread
//! that removed it may resume it. *Running*: on a worker. The worker gives a fiber up only after it
//! has saved the registers (U); see dock.hpp. Only the running thread accesses the fields, except
//! where stated. Limit: thread_count_max of one master.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "arch/context.hpp"
#include "base/cache_line.hpp"
#include "omp/dock.hpp"
#include "omp/task_memory.hpp"
#include "omp/team_state.hpp"
#include "omp/wait_list.hpp"

namespace sorrel::omp {

struct Group;
class Worker;

/// The action of a worker on a fiber that has just switched back to it.
enum class SuspendAction : std::uint8_t { dock, suspend, queue, to_main_thread };

/// The action of a docked fiber when it is resumed.
enum class ResumeAction : std::uint8_t { implicit_task, tasks };

/// The threads that a master has used. It grows; old arrays stay, as helpers may still read them.
class ThreadPool {
 public:
  [[nodiscard]] Thread* const* threads() const { return threads_; }

  [[nodiscard]] std::uint32_t count() const { return count_; }

  void add(Thread& thread);

 private:
  Thread** threads_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t room_ = 0;
};

/// What a master keeps for the teams at one nesting level of its own. Its first level is for teams
/// outside its other teams, `inner` for those inside that, and so on.
struct NestLevel {
  ThreadPool thread_pool;
  Team* teams = nullptr;        ///< created so far, one of each size
  Team* pooled_team = nullptr;  ///< whose members are the threads of the pool
  NestLevel* inner = nullptr;
  NestLevel* outer = nullptr;
};

struct alignas(cache_line_bytes) Thread : TeamState {
  Worker* worker = nullptr;  ///< the worker that runs it, or ran it last
  Group* group = nullptr;
  TaskMemory task_memory;

  /// Since when the same tasks are queued that it may not take, and the push count at that time.
  std::uint64_t idle_since = 0;
  std::uint64_t idle_push_count = 0;
  /// Earliest time at which it takes a task from another thread again.
  std::uint64_t steal_after = 0;

  // As a master.
  NestLevel first_level;
  NestLevel* innermost_level = nullptr;  ///< of the innermost open team; null: none

  // For a fiber.
  arch::Context context = nullptr;
  std::uintptr_t thread_pointer = 0;
  Team* next_team = nullptr;          ///< written by its master before it starts the fiber
  std::uint32_t done_generation = 0;  ///< of its team's last barrier, where it arrived
  ResumeAction resume_action = ResumeAction::implicit_task;
  SuspendAction suspend_action = SuspendAction::dock;
  bool is_satisfied = false;
  /// It runs on the main thread of its rank, and may call MPI, until it is switched out. Private;
  /// read also by a signal handler on that thread.
  bool is_on_main_thread = false;
  WaitList* wait_list = nullptr;
  Condition condition;
  Dock dock;

  // Under the lock of the list or queue it is in.
  Thread* next_waiting = nullptr;
  Thread* next_woken = nullptr;
  Thread* next_ready = nullptr;
  const void* wait_key = nullptr;
  bool is_listed = false;

  [[nodiscard]] bool is_native() const { return thread_pointer == 0; }
};

/// The record of the calling thread, in its thread control block for as long as the block is used.
// Initial-exec: one instruction, and the same distance in every block.
extern constinit thread_local Thread* own_thread [[gnu::tls_model("initial-exec")]];

/// A new docked fiber of `group`, thread `number` of its teams. Null if the system allows no more.
[[nodiscard]] Thread* make_fiber(Group& group, std::uint32_t number);

/// Makes a waiting thread ready, which checks its condition again. Any thread.
void make_ready(Thread& thread);

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
