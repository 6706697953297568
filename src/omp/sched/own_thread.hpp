//! OwnThread - the kernel thread of a fiber that must have one of its own, because the program has
//! asked for something that belongs to a kernel thread: its number, name, signals, processors,
//! time.
//!
//! It is the thread of the fiber's TLS donor. From then on the fiber runs there and nowhere else,
//! until it ends. While it does not run, the donor's thread sleeps on the fiber's own stack, below
//! the fiber's frames, so that handlers of signals may run. How many fibers run at once is decided
//! as for others: a helper that would run the fiber lends it its turn, and sleeps until the fiber
//! has been given up. A native thread starts it without waiting.
//! Ordering labels: (R) the fiber is resumed, (T) the turn is returned.
#pragma once

#include <atomic>
#include <cstdint>

#include "omp/sched/thread.hpp"
#include "omp/sched/worker.hpp"

namespace sorrel::omp {

struct OwnThread {
  Worker worker;             ///< of the fiber from then on
  Worker* lender = nullptr;  ///< whose turn it has; null: started by a native thread
  arch::Context donor_frames = nullptr;
  arch::Context abandoned = nullptr;
  /// It has taken its start bit, and runs tasks for a helper before it begins.
  bool has_start = false;

  /// What the sleeping thread waits for.
  enum Call : std::uint32_t { none, run, end };

  std::atomic<std::uint32_t> call{none};
};

// By workers, on a fiber whose registers are saved and which they have taken; lender null: the
// fiber is started by a native thread.
void begin_on_own_thread(Thread& fiber, Worker* lender);
void resume_on_own_thread(Thread& fiber, Worker* lender);

/// On a fiber on its own thread: gives it up, and returns when it has been resumed.
void wait_on_own_thread(Thread& fiber, bool (*give_up)(Thread& fiber));

/// Ends a docked fiber that the caller has taken: its thread continues in the donor's frames.
void end_on_own_thread(Thread& fiber);

/// While it exists, the calling fiber stays on its worker's thread, for calls of the C library.
class StayOnWorker {
 public:
  StayOnWorker() : thread_(own_thread), before_(thread_ != nullptr && thread_->stays_on_worker) {
    if (thread_ != nullptr) thread_->stays_on_worker = true;
  }

  ~StayOnWorker() {
    if (thread_ != nullptr) thread_->stays_on_worker = before_;
  }

  StayOnWorker(const StayOnWorker&) = delete;
  StayOnWorker& operator=(const StayOnWorker&) = delete;

 private:
  Thread* const thread_;
  const bool before_;
};

}  // namespace sorrel::omp
