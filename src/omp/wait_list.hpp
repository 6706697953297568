//! WaitList - OpenMP threads that wait for a condition, and how whoever makes it true finds them.
//!
//! Any thread. A waiter adds itself unless the condition holds; a waker makes the condition true,
//! then calls wake_all() or wake_one(). Neither misses the other: the waiter counts itself in
//! before it looks (W), the waker has made its change before it looks at the count (C), both with
//! sequentially consistent operations, so one of them sees the other's. The waker's change must
//! itself be a read-modify-write or be followed by one. A thread that was woken looks again by
//! itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "omp/spin_lock.hpp"

namespace sorrel::omp {

struct Thread;

/// What is waited for. holds() may take something (a lock): once it has said true it is not asked
/// again.
struct Condition {
  bool (*holds_of)(void* argument) = nullptr;
  void* argument = nullptr;
  /// Whom wake_one() picks; null elsewhere.
  const void* key = nullptr;

  [[nodiscard]] bool holds() const { return holds_of(argument); }
};

class WaitList {
 public:
  /// False if the condition holds; otherwise the thread is in the list (if it was not already).
  bool add_unless(Thread& thread, const Condition& condition);

  /// Takes `thread` out if it is in.
  void remove(Thread& thread);

  [[nodiscard]] bool seems_empty() const {
    // (C) seq_cst, pairs with (W) in add_unless().
    return count_.load(std::memory_order_seq_cst) == 0;
  }

  void wake_all() {
    if (!seems_empty()) [[unlikely]]
      wake(nullptr, false);
  }

  void wake_one(const void* key) {
    if (!seems_empty()) wake(key, true);
  }

 private:
  void wake(const void* key, bool only_one);
  Thread* unlink(Thread* before, Thread& thread);

  std::atomic<std::uint32_t> count_{0};
  SpinLock lock_;
  Thread* first_ = nullptr;
  Thread* last_ = nullptr;
};

}  // namespace sorrel::omp
