//! Burst - the part of a fiber that runs between two calls of the library: measured, and perhaps
//! lent to another worker.
//!
//! During a measured burst `user` holds the fiber's Fiber::user, which is null: the next call of
//! the library does not find its user and calls Worker::come_home(), which ends the burst. So other
//! calls pay nothing. Belongs to the owner of the fiber, beside the record of the fiber, which
//! every switch reads. Accessed by the thread that runs the fiber; the box, and the call that
//! carries a fiber home, pass it on. README.md, "Loans".
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/cpu.hpp"
#include "core/burst_history.hpp"
#include "core/loan_box.hpp"
#include "core/remote_call.hpp"

namespace sorrel::core {

struct Fiber;

/// The call carries the fiber home.
struct Burst : RemoteCall {
  Burst(Fiber& of, void (*return_home)(Worker&, RemoteCall&))
      : RemoteCall{.run = return_home, .next = nullptr}, fiber(of) {}

  Fiber& fiber;
  void* user = nullptr;
  /// The worker that has borrowed the fiber; null: it is on its own.
  Worker* borrower = nullptr;
  /// On the cycle counter.
  std::uint64_t began = 0;
  BurstSite* site = nullptr;
  /// In the list of offers of its worker.
  Burst* next_offer = nullptr;
  BurstHistory history;
};

using LoanBox = BasicLoanBox<StdSync, Burst>;

/// The number of idle workers of this process that would run a fiber of another one, times
/// seeker_step. Read at the end of every call: one instruction with an operand in memory, which a
/// variable of the library allows.
extern std::atomic<std::uint32_t> seeker_count [[gnu::visibility("hidden")]];

/// Odd, so that no multiple is 0; no error class.
inline constexpr std::uint32_t seeker_step = 0x5ee40001;

/// Any thread: from now on every call ends in the slow way, or no longer. Each begin has an end.
void begin_slow_ends();
void end_slow_ends();

/// Whether there is one. Any thread, a hint.
[[nodiscard]] inline bool are_loans_sought() {
  // Relaxed: a hint.
  return seeker_count.load(std::memory_order_relaxed) != 0;
}

/// Whether there is one, or the result of a call is not 0 (success): one comparison. Results are
/// small numbers, not multiples of seeker_step.
[[nodiscard, gnu::always_inline]] inline bool is_error_or_sought(int& result) {
  return arch::differs(seeker_count, result);
}

/// Sums for a report.
struct LoanCounts {
  std::uint64_t loans = 0;
  /// Measured bursts that were long enough for a loan, and not lent.
  std::uint64_t long_home_bursts = 0;
  std::uint64_t lent_cycles = 0;
  std::uint64_t long_home_cycles = 0;

  void add(const LoanCounts& other) {
    loans += other.loans;
    long_home_bursts += other.long_home_bursts;
    lent_cycles += other.lent_cycles;
    long_home_cycles += other.long_home_cycles;
  }
};

}  // namespace sorrel::core
