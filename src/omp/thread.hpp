//! Thread - an OpenMP thread: a fiber with a thread control block of its own, or a thread of the
//! program's (native) that runs parallel regions.
//!
//! A fiber is in one of three places. *Docked*: between two implicit tasks; whoever turns its place
//! to running (D) may resume it. *Suspended*: in a wait list or a ready queue; whoever took it out
//! may resume it. *Running*: on a worker. A place is given up only after the fiber's registers are
//! saved, by the worker it ran on (U); see dock.hpp. Fields are the running thread's own, except
//! where said. Limit: thread_count_max of one master.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "arch/context.hpp"
#include "base/cache_line.hpp"
#include "omp/dock.hpp"
#include "omp/icv.hpp"
#include "omp/task.hpp"
#include "omp/wait_list.hpp"

namespace sorrel::omp {

struct Group;
struct Team;
class Worker;
class WorkShare;

/// What a worker does with a fiber that has just switched back to it.
enum class Then : std::uint8_t { dock, suspend, queue, go_home };

/// What a docked fiber does when it is resumed.
enum class Errand : std::uint8_t { implicit_task, tasks };

/// The threads a master has had: grows, and old arrays stay, since helpers read them at any time.
class Crew {
 public:
  [[nodiscard]] Thread* const* threads() const { return threads_; }

  [[nodiscard]] std::uint32_t count() const { return count_; }

  void add(Thread& thread);

 private:
  Thread** threads_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t room_ = 0;
};

/// What a master has for the team it opens outside of its others, for the one inside that, and so
/// on.
struct Command {
  Crew crew;
  Team* teams = nullptr;        ///< made so far, one of each size
  Team* crewed_team = nullptr;  ///< whose members the crew's threads are
  Command* inner = nullptr;
  Command* outer = nullptr;
};

struct alignas(cache_line_bytes) Thread {
  // What the program asks for most.
  Team* team = nullptr;
  std::uint32_t number = 0;
  Icv icv;
  Worker* worker = nullptr;  ///< who runs it, or ran it last
  Group* group = nullptr;

  // Where it stands among the constructs of its team.
  WorkShare* share = nullptr;
  std::uint64_t share_count = 0;
  std::uint64_t single_count = 0;
  std::uint64_t chunk_index = 0;  ///< of a static loop: chunks taken
  std::uint64_t chunk_begin = 0;  ///< of an ordered loop: iterations it holds
  std::uint64_t chunk_end = 0;
  bool holds_chunk = false;

  Task* task = nullptr;  ///< the one it executes
  Desk* desk = nullptr;  ///< in its team
  TaskMemory task_memory;

  /// Since when the same tasks lie about that it may not take, and how many had been queued by
  /// then.
  std::uint64_t idle_since = 0;
  std::uint64_t idle_push_count = 0;
  /// Not before then does it take a task from another thread again.
  std::uint64_t steal_after = 0;

  // As a master.
  Command command;
  Command* commands = nullptr;  ///< of the innermost open team; null: of none

  // Of a fiber.
  arch::Context context = nullptr;
  std::uintptr_t thread_pointer = 0;
  Team* next_team = nullptr;          ///< its master's to write, before it starts the fiber
  std::uint32_t done_generation = 0;  ///< of its team's last barrier, where it arrived
  Errand errand = Errand::implicit_task;
  Then then = Then::dock;
  bool is_satisfied = false;
  /// Where its rank runs, and may call MPI, until it is switched from. Its own; the handler of a
  /// signal there reads it.
  bool is_at_home = false;
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

/// The calling thread's record, which its thread control block has for as long as it is used.
// Initial-exec: one instruction, and the same distance in every block.
extern constinit thread_local Thread* own_thread [[gnu::tls_model("initial-exec")]];

/// Makes a thread of the program's an OpenMP thread, with a group of its own.
[[nodiscard, gnu::noinline, gnu::cold]] Thread& adopt_thread();

/// The OpenMP thread that calls; a thread of the program's becomes one at its first call.
[[nodiscard]] inline Thread& this_thread() {
  Thread* thread = own_thread;
  return thread != nullptr ? *thread : adopt_thread();
}

/// A new fiber of `group`, docked, that is thread `number` of its teams. Null if the system allows
/// no more threads.
[[nodiscard]] Thread* make_fiber(Group& group, std::uint32_t number);

/// Lets a thread that waited look again. Any thread.
void make_ready(Thread& thread);

/// Waits until the condition holds, which is changed by somebody who then wakes `list`. Other
/// OpenMP threads of the group run meanwhile. May suspend.
void wait_until(Thread& thread, WaitList& list, const Condition& condition);

/// Whether somebody could run where the thread runs.
[[nodiscard]] bool may_others_run(const Thread& thread);

/// Lets other OpenMP threads run. May suspend.
void yield(Thread& thread);

/// The native thread of the caller's group is a rank: the caller, a fiber, goes to where that runs,
/// and may call MPI there until it is switched from. False if there is no such rank. May suspend.
bool come_home();

}  // namespace sorrel::omp
