//! Fiber - a user-level thread: a stack, saved registers, and the thread state that the C and C++
//! libraries keep per thread.
//!
//! Only its Worker creates and switches a fiber, and only that worker's thread accesses it, except
//! while it is lent (burst.hpp). errno and the C++ exception state are exchanged at each switch; a
//! fiber with its own thread control block (`thread_pointer`) keeps them there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/context.hpp"
#include "base/cache_line.hpp"
#include "core/sanitizer.hpp"

namespace sorrel::core {

class Worker;

/// The Itanium C++ ABI's per-thread exception state (__cxa_eh_globals).
struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught_count = 0;
  /// Copied with the rest, so that a switch copies 16 bytes at once.
  unsigned int padding = 0;
};

enum class FiberState : std::uint8_t {
  running,  ///< Worker::running_ points to it.
  lent,     ///< Worker::running_ of another worker points to it.
  ready,    ///< In its worker's ready queue or loan box, or on its way home.
  waiting,  ///< A completion, timer or collective refers to it and will make it ready.
  ended,    ///< Its stack may be reused.
};

using FiberEntry = void (*)(void* argument);

struct Fiber {
  // Set at creation.
  Worker* worker = nullptr;
  /// The owner's data for this fiber (the MPI rank); core does not use it. Null in measured bursts.
  void* user = nullptr;
  /// Its own thread control block; 0: that of the thread that runs its worker.
  std::uintptr_t thread_pointer = 0;
  /// What it needs of the thread that runs it, for SchedulerHooks::on_settings_change(); null: the
  /// settings with which the thread started. core compares the address only.
  const void* settings = nullptr;

  // Saved while it does not run.
  arch::Context context = nullptr;
  int saved_errno = 0;
  FiberState state = FiberState::waiting;
  /// It stands for a thread that is no worker's (core/guest.hpp): `context` is its Guest.
  bool is_guest : 1 = false;
  /// Made ready, it runs before the fibers that are ready already: it computes little, and what it
  /// does lets others continue. Not under a seed.
  bool goes_first : 1 = false;
  /// Not lent while this is not 0: frames of the library lie below the program's (PinnedFiber).
  std::uint16_t pin_count = 0;
  /// Limit of threads of the loops that it starts; 0: none. core does not use it.
  std::uint32_t loop_threads_max = 0;
  [[no_unique_address]] SanitizerFiber sanitizer;
  ExceptionState saved_exceptions;
  Fiber* next_ready = nullptr;

  // For reports and traces, set by the code that it runs: the function in which it waits or may
  // wait, a constant of the process, and the place of the call.
  const char* call = "";
  const void* call_site = nullptr;
};

/// First in, first out queue of fibers through Fiber::next_ready: ready fibers, or fibers that will
/// become ready together.
class FiberQueue {
 public:
  [[nodiscard]] bool empty() const { return first_ == nullptr; }

  void push(Fiber& fiber) {
    fiber.next_ready = nullptr;
    if (first_ == nullptr) {
      first_ = &fiber;
    } else {
      last_->next_ready = &fiber;
    }
    last_ = &fiber;
  }

  void push_first(Fiber& fiber) {
    fiber.next_ready = first_;
    if (first_ == nullptr) last_ = &fiber;
    first_ = &fiber;
  }

  Fiber* pop() {
    Fiber* fiber = first_;
    if (fiber == nullptr) return nullptr;
    first_ = fiber->next_ready;
    if (first_ != nullptr) fetch_ahead(*first_);
    return fiber;
  }

  [[nodiscard]] Fiber* first() const { return first_; }

  /// visit(fiber) in order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Fiber* fiber = first_; fiber != nullptr; fiber = fiber->next_ready)
      visit(*fiber);
  }

  /// Puts all of `other`, which is not empty, before the first one, in order, and empties it.
  void prepend(FiberQueue& other) {
    other.last_->next_ready = first_;
    if (first_ == nullptr) last_ = other.last_;
    first_ = other.first_;
    other.first_ = nullptr;
  }

  /// Moves `last` and all fibers before it to the end, in order. `last` is in the queue and not its
  /// last.
  void rotate_behind(Fiber& last) {
    last_->next_ready = first_;
    first_ = last.next_ready;
    last.next_ready = nullptr;
    last_ = &last;
  }

  /// Appends all fibers of `other` and empties it.
  void append(FiberQueue& other) {
    if (other.first_ == nullptr) return;
    (first_ == nullptr ? first_ : last_->next_ready) = other.first_;
    last_ = other.last_;
    other.first_ = nullptr;
  }

 private:
  /// With thousands of fibers, the record and stack of the next one are no longer in the near
  /// caches, nor its pages in the TLB: they are fetched while the fiber before it runs.
  static void fetch_ahead(const Fiber& next) {
    __builtin_prefetch(next.next_ready);
    const auto* stack = static_cast<const char*>(static_cast<const void*>(next.context));
    for (std::size_t line = 0; line < 3; ++line)
      __builtin_prefetch(stack + line * cache_line_bytes);
  }

  Fiber* first_ = nullptr;
  Fiber* last_ = nullptr;
};

}  // namespace sorrel::core
