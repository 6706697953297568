//! LaterBalance - loans and measurements that begin in the middle of a job: a state of the process,
//! as the count of workers that seek loans (burst.hpp).
//!
//! A scheduler that lends fibers, and may measure them, does neither between postpone_balance() and
//! begin_loans(), begin_measuring(). Any thread, but for give_block().
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::core {

struct Fiber;
class Scheduler;
class Worker;

enum class BalanceStage : std::uint8_t {
  as_configured,  ///< By the options of schedulers.
  postponed,      ///< No fiber is lent.
  lending,
  measuring  ///< Fibers are lent; their running times are measured, whatever the options are.
};

/// For balance_stage(), which barriers of all ranks call.
class BalanceStageWord {
  // Relaxed: a worker that does not see a change yet neither offers nor seeks, or does not measure.
  static std::atomic<BalanceStage> word;

  friend BalanceStage balance_stage();
  friend void postpone_balance();
  friend void begin_loans();
  friend void begin_measuring(Scheduler& scheduler);
};

/// A hint: other threads may change it. It only rises.
[[nodiscard]] inline BalanceStage balance_stage() {
  return BalanceStageWord::word.load(std::memory_order_relaxed);
}

/// Before any worker runs.
void postpone_balance();

/// A worker that sleeps seeks loans when it has next been woken (Worker::request_attention()).
void begin_loans();

/// Each worker of `scheduler` measures from when it has next left its fibers, which is soon.
void begin_measuring(Scheduler& scheduler);

/// Whether fibers of the scheduler that are ready may be taken by idle workers.
[[nodiscard]] bool are_fibers_lent(const Scheduler& scheduler);

/// On the worker's thread: a fiber of this worker, which is suspended and is not the one on whose
/// stack the caller runs, has a thread control block of its own from now on. The next switch to it
/// sets the thread pointer. Its errno, which the last switch has saved, goes into the block. Its
/// exception state must be empty.
void give_block(Worker& worker, Fiber& fiber, std::uintptr_t thread_pointer);

}  // namespace sorrel::core
