//! Worker - an OS thread that runs OpenMP threads: a helper of ours, or the program's own (native)
//! thread, which runs its group's fibers while it waits itself.
//!
//! Fibers switch back to their worker's root and never to each other, so what must happen after a
//! fiber's registers are saved happens in one place, run(). The root of a native worker is the
//! native thread's own context.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/context.hpp"
#include "base/cache_line.hpp"
#include "omp/thread.hpp"

namespace sorrel::omp {

class Worker {
 public:
  /// Makes the calling thread this worker's. index: 0 for a native one, else a helper's number.
  void take_thread(std::uint32_t index);

  /// Runs a fiber, whose place is running, until it waits or docks.
  void run(Thread& fiber);

  /// On a fiber: back to the root of its worker; `then` is done when its registers are saved.
  /// Returns when somebody resumes it, perhaps on another worker.
  static void leave(Thread& fiber, Then then);

  /// Of a rank: where the scheduler keeps its thread pointer, or null.
  void set_thread_pointer_place(std::uintptr_t* place) { thread_pointer_place_ = place; }

  [[nodiscard]] std::uintptr_t root_thread_pointer() const { return root_thread_pointer_; }

  [[nodiscard]] std::uint32_t index() const { return index_; }

  /// Any thread, a hint: the fiber it runs now, or null.
  [[nodiscard]] const Thread* running() const { return running_.load(std::memory_order_relaxed); }

  /// Any thread, a hint: counts fibers that it has begun to run.
  [[nodiscard]] std::uint32_t run_count() const {
    return run_count_.load(std::memory_order_relaxed);
  }

  /// The system's number of its OS thread.
  [[nodiscard]] int native_number() const { return native_number_; }

  /// A helper that the governor does not grant any more.
  [[nodiscard]] bool must_retire() const;

  // Sleeping: announce, look again everywhere, then sleep or get up.
  void announce_sleep() { is_asleep_.store(1, std::memory_order_seq_cst); }

  void get_up() { is_asleep_.store(0, std::memory_order_relaxed); }

  /// Until wake(), once announced. timeout_ns < 0: no limit.
  void sleep(std::int64_t timeout_ns);

  [[nodiscard]] bool seems_asleep() const {
    return is_asleep_.load(std::memory_order_seq_cst) != 0;
  }

  /// Any thread. Whether it was the caller who woke it.
  bool wake();

 private:
  void run_until_it_waits(Thread& fiber);

  arch::Context root_ = nullptr;
  std::uintptr_t root_thread_pointer_ = 0;
  std::uintptr_t* thread_pointer_place_ = nullptr;
  std::uint32_t index_ = 0;
  int native_number_ = 0;
  // Written by the worker, read by the pool's monitor now and then.
  std::atomic<const Thread*> running_{nullptr};
  std::atomic<std::uint32_t> run_count_{0};
  /// 1: announced. Written by others too, seldom.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> is_asleep_{0};
};

}  // namespace sorrel::omp
