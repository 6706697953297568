//! Thread - an OpenMP thread to its scheduler: a fiber with a thread control block of its own, or a
//! thread of the program (native). TeamThread adds its place in a team.
//!
//! A fiber is in one of three states. *Docked*: between two implicit tasks; the thread that changes
//! the state to running (D) may resume it. *Suspended*: in a wait list or a ready queue; the thread
//! that removed it may resume it. *Running*: on a worker. The worker gives a fiber up only after it
//! has saved the registers (U); see dock.hpp. Only the running thread accesses the fields, except
//! where stated. Data only: schedule.hpp has the functions.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/context.hpp"
#include "omp/kernel/dock.hpp"
#include "omp/kernel/queued_start.hpp"

namespace sorrel::os {
class TlsDonor;
}

namespace sorrel::omp {

struct Group;
struct OwnThread;
class WaitList;
class Worker;

/// A condition to wait for. holds() loads with `waiter_order`. It may acquire something (a lock):
/// after it has returned true, it is not called again.
struct Condition {
  bool (*holds_of)(void* argument) = nullptr;
  void* argument = nullptr;
  /// Selects the threads that wake_one() wakes; null elsewhere.
  const void* key = nullptr;

  [[nodiscard]] bool holds() const { return holds_of(argument); }
};

/// The action of a worker on a fiber that has just switched back to it.
enum class SuspendAction : std::uint8_t { dock, suspend, queue, to_main_thread, to_own_thread };

/// The action of a docked fiber when it is resumed.
enum class ResumeAction : std::uint8_t { implicit_task, tasks, none };

/// On which kernel threads a fiber runs, as bits.
enum Placement : std::uint8_t {
  on_any_worker = 0,
  on_main_thread = 1,   ///< of its rank: it may call MPI until it is switched out
  on_own_thread = 2,    ///< its donor's, for as long as the fiber exists (own_thread.hpp)
  is_own_requested = 4  ///< the next worker that would run it makes it on_own_thread
};

struct Thread {
  Worker* worker = nullptr;  ///< the worker that runs it, or ran it last
  Group* group = nullptr;

  // For a fiber.
  arch::Context context = nullptr;
  std::uintptr_t thread_pointer = 0;
  os::TlsDonor* donor = nullptr;  ///< null also for a fiber that has ended
  ResumeAction resume_action = ResumeAction::implicit_task;
  SuspendAction suspend_action = SuspendAction::dock;
  bool is_satisfied = false;
  /// In a call of this library that must not change its kernel thread.
  bool stays_on_worker = false;
  /// Bits of Placement. Relaxed: changed by its own thread, or by the thread that has taken it; the
  /// last bit by any thread.
  std::atomic<std::uint8_t> placement{on_any_worker};
  OwnThread* own = nullptr;
  /// Relaxed: written before the fiber is given up.
  std::atomic<WaitList*> wait_list{nullptr};
  Condition condition;
  Dock dock;
  /// The thread belongs to an inner region, to a very large one, or runs under a tool. It may wait
  /// in its region's last barrier, and so dock after the region has ended. Constant.
  bool starts_through_queue = false;
  QueuedStart queued_start;

  // Under the lock of the list or queue it is in.
  Thread* next_waiting = nullptr;
  Thread* next_woken = nullptr;
  Thread* next_ready = nullptr;
  const void* wait_key = nullptr;
  bool is_listed = false;

  [[nodiscard]] bool is_native() const { return thread_pointer == 0; }

  [[nodiscard]] bool is(Placement bit) const {
    return (placement.load(std::memory_order_relaxed) & bit) != 0;
  }

  void set(Placement bit) { placement.fetch_or(bit, std::memory_order_relaxed); }

  void clear(Placement bit) {
    placement.fetch_and(static_cast<std::uint8_t>(~bit), std::memory_order_relaxed);
  }
};

/// The record of the calling thread, in its thread control block for as long as the block is used.
// Initial-exec: one instruction, and the same distance in every block.
extern constinit thread_local Thread* own_thread [[gnu::tls_model("initial-exec")]];

}  // namespace sorrel::omp
