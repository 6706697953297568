//! FiberThread - an OS thread of its own for a fiber that leaves its worker.
//!
//! A rank that has started threads may wait for them in ways that the worker does not see (a
//! barrier of an OpenMP library, a mutex). So that its worker goes on meanwhile, its fiber moves to
//! a thread of its own, and is a guest of the worker from then on. It keeps its stack and
//! its thread control block, if it has one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "arch/context.hpp"
#include "core/fiber.hpp"
#include "core/guest.hpp"
#include "core/worker.hpp"

namespace sorrel::core {

class FiberThread {
 public:
  /// Called on the new thread, before the fiber goes on with it.
  using OnStart = void (*)(void* argument);

  /// In a fiber of a worker: continues it on a thread of its own, which this starts; false if the
  /// system starts no thread. `waiting_count` as for Guest. May suspend.
  [[nodiscard]] static bool move_out(std::int32_t& waiting_count, OnStart on_start, void* argument);

  /// The flow of control of an attached thread (Worker::attach_thread) becomes a guest, and a
  /// further thread runs the worker. False if the system starts no thread.
  [[nodiscard]] static bool leave_attached(std::int32_t& waiting_count);

  /// In a fiber that has moved out: it goes on as a fiber of its worker, and its thread ends. May
  /// suspend.
  static void move_back();

 private:
  friend class Worker;

  FiberThread(Fiber& fiber, std::int32_t& waiting_count, OnStart on_start, void* argument)
      : fiber_(fiber), waiting_count_(waiting_count), on_start_(on_start), argument_(argument) {}

  static void* run(void* self);
  static void* run_worker(void* worker);
  void run_fiber();
  void leave_fiber();
  void hand_back();
  /// The worker's thread, outside any fiber, when the fiber waits: hands it to this thread.
  void start_fiber();

  Fiber& fiber_;
  std::int32_t& waiting_count_;
  const OnStart on_start_;
  void* const argument_;
  /// What the fiber has saved on its stack.
  arch::Context context_ = nullptr;
  Fiber root_;
  ThreadState state_;
  /// Settings of the fiber, on its worker.
  const void* settings_ = nullptr;
  std::unique_ptr<Guest> guest_;
  /// 1: the fiber has left its worker.
  std::atomic<std::uint32_t> is_handed_over_{0};
};

}  // namespace sorrel::core
