//! Thread - an OpenMP thread to its scheduler: a fiber with a thread control block of its own, or a
//! thread of the program (native). TeamThread adds its place in a team.
//!
//! A fiber is in one of three states. *Docked*: between two implicit tasks; the thread that changes
//! the state to running (D) may resume it. *Suspended*: in a wait list or a ready queue; the thread
//! that removed it may resume it. *Running*: on a worker. The worker gives a fiber up only after it
//! has saved the registers (U); see dock.hpp. Only the running thread accesses the fields, except
//! where stated. Data only: schedule.hpp has the functions.
#pragma once

#include <cstdint>

#include "arch/context.hpp"
#include "omp/kernel/dock.hpp"

namespace sorrel::omp {

struct Group;
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
enum class SuspendAction : std::uint8_t { dock, suspend, queue, to_main_thread };

/// The action of a docked fiber when it is resumed.
enum class ResumeAction : std::uint8_t { implicit_task, tasks };

struct Thread {
  Worker* worker = nullptr;  ///< the worker that runs it, or ran it last
  Group* group = nullptr;

  // For a fiber.
  arch::Context context = nullptr;
  std::uintptr_t thread_pointer = 0;
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

}  // namespace sorrel::omp
