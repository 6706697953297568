//! LockQueue - the lock of one target of a window (MPI_Win_lock): shared or exclusive, first come,
//! first served.
//!
//! Under the lock of the target's view (Win::sync_lock); pure, never waits. A waiter is memory of
//! its caller. An origin that finds waiters queues up behind them, so that no stream of shared
//! holders keeps an exclusive one out.
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "mpi/base/rank_layout.hpp"

namespace sorrel::mpi {

struct WinWait;

/// An origin that waits for the lock.
struct LockWaiter {
  LockWaiter* next = nullptr;
  bool is_exclusive = false;
  /// Its rank in the window.
  std::int32_t origin = 0;
  /// Its wait, if it is a rank of this process; else where the answer goes.
  WinWait* here = nullptr;
  Endpoint from;
  std::uint64_t token = 0;
  /// The latest holder when it began to wait: for reports.
  std::int32_t blocked_by = -1;
};

class LockQueue {
 public:
  /// Takes the lock if it is free for this kind, and no origin waits.
  [[nodiscard]] bool try_acquire(bool is_exclusive, std::int32_t origin) {
    if (first_ != nullptr || !is_free_for(is_exclusive)) return false;
    take(is_exclusive, origin);
    return true;
  }

  /// After try_acquire() has failed.
  void add(LockWaiter& waiter) {
    SORREL_ASSERT(holder_count_ != 0, "the lock is free");
    waiter.next = nullptr;
    waiter.blocked_by = latest_holder_;
    (first_ == nullptr ? first_ : last_->next) = &waiter;
    last_ = &waiter;
  }

  /// One holder leaves. Returns the waiters that hold the lock from now on, linked by `next`.
  [[nodiscard]] LockWaiter* release() {
    SORREL_ASSERT(holder_count_ > 0, "released more often than acquired");
    --holder_count_;
    LockWaiter* granted = nullptr;
    LockWaiter** end = &granted;
    while (first_ != nullptr && is_free_for(first_->is_exclusive)) {
      LockWaiter& waiter = *first_;
      first_ = waiter.next;
      take(waiter.is_exclusive, waiter.origin);
      waiter.next = nullptr;
      *end = &waiter;
      end = &waiter.next;
    }
    return granted;
  }

  [[nodiscard]] bool is_held() const { return holder_count_ != 0; }

 private:
  [[nodiscard]] bool is_free_for(bool is_exclusive) const {
    return holder_count_ == 0 || (!is_exclusive && !is_exclusive_);
  }

  void take(bool is_exclusive, std::int32_t origin) {
    is_exclusive_ = is_exclusive;
    ++holder_count_;
    latest_holder_ = origin;
  }

  LockWaiter* first_ = nullptr;
  LockWaiter* last_ = nullptr;
  std::int32_t holder_count_ = 0;
  std::int32_t latest_holder_ = -1;
  bool is_exclusive_ = false;
};

}  // namespace sorrel::mpi
