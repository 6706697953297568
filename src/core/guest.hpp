//! Guest - an OS thread that is no worker's, and takes a worker's place for the time of a call.
//!
//! A rank may start threads, and any of them may call the library. Such a thread takes the worker's
//! seat, is its running fiber until the call ends, and accesses all that the worker's own thread
//! may access. If the call waits, the thread gives the seat back and sleeps; the worker's thread,
//! or another guest, makes progress meanwhile. README.md, "Guests", has the protocol.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/fiber.hpp"
#include "core/worker.hpp"

namespace sorrel::core {

class Guest {
 public:
  /// `fiber` stands for the thread where a call waits; nothing else uses it. `waiting_count` counts
  /// the guests of its owner that wait; only holders of the worker's seat access it.
  Guest(Worker& worker, Fiber& fiber, std::int32_t& waiting_count);
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  /// The guest as which the calling thread runs a fiber outside of its worker, or null. Any thread.
  [[gnu::noinline]] static Guest* current();
  [[gnu::noinline]] static void set_current(Guest* guest);

  static Guest& of(const Fiber& fiber) {
    SORREL_ASSERT(fiber.is_guest);
    return *static_cast<Guest*>(fiber.context);
  }

  [[nodiscard]] Worker& worker() const { return worker_; }

  [[nodiscard]] Fiber& fiber() const { return fiber_; }

  /// The calling thread becomes the worker's, with this guest's fiber as the running one. Sleeps
  /// until the worker's thread is between two fibers.
  void enter();

  /// The end of that: the calling thread belongs to no worker.
  void leave();

  /// The guest's own thread: whether it is between enter() and leave().
  [[nodiscard]] bool is_inside() const { return is_inside_; }

  /// For the layers above: the call in progress.
  const char* call = "";
  const void* call_site = nullptr;

 private:
  friend class FiberThread;
  friend class Worker;

  Worker& worker_;
  Fiber& fiber_;
  std::int32_t& waiting_count_;
  /// The fiber that runs on the worker's own thread, while the guest has the seat.
  Fiber* before_ = nullptr;
  /// The thread of a fiber that has moved out.
  FiberThread* thread_ = nullptr;
  bool is_inside_ = false;
  /// 1: the wait is over.
  std::atomic<std::uint32_t> is_granted_{0};
};

}  // namespace sorrel::core
