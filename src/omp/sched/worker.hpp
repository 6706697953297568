//! Worker - an OS thread that runs OpenMP threads: a helper, or a thread of the program (native),
//! which runs the fibers of its group while it waits.
//!
//! Fibers switch back to their worker's root and never to each other. Thus all actions after a
//! fiber's registers are saved are in one function, run(). The root of a native worker is the
//! native thread's own context.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/context.hpp"
#include "core/core_watch.hpp"
#include "omp/sched/thread.hpp"
#include "os/clock.hpp"

namespace sorrel::omp {

class Worker {
 public:
  /// Binds the worker to the calling thread. index: 0 for a native thread, else a helper's number.
  void attach_thread(std::uint32_t index);

  /// Runs a fiber, whose state is running, until it waits or docks. On a native thread: one that
  /// has a kernel thread of its own is only started.
  void run(Thread& fiber);

  /// On a helper.
  void run_on_helper(Thread& fiber);

  /// On a fiber: switches to the root of its worker, which performs the action after it has saved
  /// the registers. Returns when a thread resumes the fiber, perhaps on another worker.
  static void switch_to_root(Thread& fiber, SuspendAction suspend_action);

  /// By a fiber on its own thread that has been given up: `this` is the helper that has lent it its
  /// turn.
  void return_turn();

  /// As the worker of a fiber that has a kernel thread of its own: has the rights of worker
  /// `index`.
  void set_index(std::uint32_t index) { index_ = index; }

  /// For a rank: the address at which the scheduler keeps its thread pointer, or null.
  void set_thread_pointer_address(std::uintptr_t* address) { thread_pointer_address_ = address; }

  [[nodiscard]] std::uintptr_t root_thread_pointer() const { return root_thread_pointer_; }

  [[nodiscard]] std::uint32_t index() const { return index_; }

  /// Any thread, a hint: the fiber that it runs now, or null.
  [[nodiscard]] const Thread* running() const { return running_.load(std::memory_order_relaxed); }

  /// Any thread, a hint: counts the fibers that it has begun to run.
  [[nodiscard]] std::uint32_t run_count() const {
    return run_count_.load(std::memory_order_relaxed);
  }

  /// The system's number of its OS thread.
  [[nodiscard]] int native_number() const { return native_number_; }

  /// On its thread, in a wait: whether the thread has lately been without its core.
  [[nodiscard]] bool has_lost_core() const { return core_watch_.is_recent(); }

  /// has_lost_core(), after a look at the system's accounting: 1 us.
  bool check_core() {
    core_watch_.read(native_number_, os::monotonic_ns());
    return has_lost_core();
  }

 private:
  void run_until_it_waits(Thread& fiber);
  void lend_turn(Thread& fiber);
  void move_to_own_thread(Thread& fiber);

  arch::Context root_ = nullptr;
  std::uintptr_t root_thread_pointer_ = 0;
  std::uintptr_t* thread_pointer_address_ = nullptr;
  std::uint32_t index_ = 0;
  int native_number_ = 0;
  core::CoreWatch core_watch_;
  // Written by the worker, read occasionally by the pool's monitor.
  std::atomic<const Thread*> running_{nullptr};
  std::atomic<std::uint32_t> run_count_{0};
  std::atomic<std::uint32_t> has_lent_turn_{0};
};

}  // namespace sorrel::omp
