//! Locks of OpenMP programs: a word of 32 bits in the program's memory. A thread that must wait
//! lets other OpenMP threads run; if there are none, it sleeps.
//!
//! 0: free, 1: taken, 2: taken and threads may wait. Waiters are in lists found by the word's
//! address. Any OpenMP thread; may suspend where stated. Ordering label: (L) take and give.
#pragma once

#include <atomic>
#include <cstdint>

#include "omp/kernel/wait_count.hpp"

namespace sorrel::omp {

class Lock {
 public:
  /// May suspend.
  void take() {
    std::uint32_t expected = 0;
    // (L) acquire, pairs with give().
    if (!word_.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      take_contended();
  }

  bool try_take() {
    std::uint32_t expected = 0;
    return word_.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  void give() {
    // (L) release; before the check for waiters, see WaitCount.
    if (word_.exchange(0, waker_order) == 2) wake_one();
  }

 private:
  void take_contended();
  void wake_one();

  static bool take_as_waiter(void* argument);

  std::atomic<std::uint32_t> word_{0};
};

/// omp_nest_lock_t since OpenMP 3.0: owned by a task.
struct NestLock {
  Lock lock;
  std::int32_t count;
  const void* owner;

  /// Returns the new count.
  std::int32_t take(const void* caller) {
    if (owner_now() != caller) {
      lock.take();
      set_owner(caller);
    }
    return ++count;
  }

  /// The new count; 0 if another task holds the lock.
  std::int32_t try_take(const void* caller) {
    if (owner_now() != caller) {
      if (!lock.try_take()) return 0;
      set_owner(caller);
    }
    return ++count;
  }

  /// Returns whether it is free now.
  bool give() {
    if (--count != 0) return false;
    set_owner(nullptr);
    lock.give();
    return true;
  }

 private:
  // Relaxed: only the owner can find itself there.
  [[nodiscard]] const void* owner_now() {
    return std::atomic_ref(owner).load(std::memory_order_relaxed);
  }

  void set_owner(const void* caller) {
    std::atomic_ref(owner).store(caller, std::memory_order_relaxed);
  }
};

static_assert(sizeof(Lock) == 4 && sizeof(NestLock) == 16);

}  // namespace sorrel::omp
