//! Burst - the part of a fiber that runs between two calls of the library: measured, and perhaps
//! lent to another worker.
//!
//! During a measured burst `user` holds the fiber's Fiber::user, which is null: the next call of
//! the library does not find its user and calls Worker::come_home(), which ends the burst. So other
//! calls pay nothing. Accessed by the thread that runs the fiber; the box, and the call that
//! carries a fiber home, pass it on. README.md, "Loans".
#pragma once

#include <cstdint>

#include "core/burst_history.hpp"
#include "core/loan_box.hpp"
#include "core/remote_call.hpp"

namespace sorrel::core {

struct Fiber;

/// The call carries the fiber home.
struct Burst : RemoteCall {
  Fiber* fiber = nullptr;
  void* user = nullptr;
  /// The worker that has borrowed the fiber; null: it is on its own.
  Worker* borrower = nullptr;
  /// On the cycle counter.
  std::uint64_t began = 0;
  BurstSite* site = nullptr;
  BurstHistory history;
};

using LoanBox = BasicLoanBox<StdSync, Fiber>;

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
