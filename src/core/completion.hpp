//! Completion - the only object a fiber waits for. Requests, collectives and timers each contain
//! one.
//!
//! A completion belongs to one worker: only that worker's thread may complete it or wait for it;
//! other workers complete it by a RemoteCall. At most one fiber waits for a completion at a time; a
//! fiber may wait for many (Waiter).
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "core/worker.hpp"

namespace sorrel::core {

/// A fiber's wait for `missing_count` of the completions it is attached to. Lives on the fiber's
/// stack.
struct Waiter {
  Fiber* fiber;
  std::uint32_t missing_count;
};

class Completion {
 public:
  [[nodiscard]] bool is_done() const { return done_; }

  /// Marks it done, and makes the waiting fiber ready if it missed no other completion.
  void complete(Worker& worker) {
    SORREL_ASSERT(!done_);
    done_ = true;
    if (waiter_ != nullptr) {
      Waiter& waiter = *waiter_;
      waiter_ = nullptr;
      if (waiter.missing_count != 0 && --waiter.missing_count == 0)
        worker.make_ready(*waiter.fiber);
    }
  }

  /// Suspends the running fiber until done. May suspend.
  void wait(Worker& worker) {
    if (done_) return;
    Waiter waiter{.fiber = &worker.running(), .missing_count = 1};
    attach(waiter);
    worker.suspend();
    SORREL_ASSERT(done_);
  }

  /// Counts towards `waiter` when completed. Requires: not done, no other waiter attached.
  void attach(Waiter& waiter) {
    SORREL_ASSERT(!done_ && waiter_ == nullptr);
    waiter_ = &waiter;
  }

  void detach() { waiter_ = nullptr; }

  /// Prepares it for reuse (persistent requests).
  void reset() {
    SORREL_ASSERT(waiter_ == nullptr);
    done_ = false;
  }

 private:
  Waiter* waiter_ = nullptr;
  bool done_ = false;
};

}  // namespace sorrel::core
