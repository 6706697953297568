//! SpinLock - mutual exclusion for a few instructions, between workers of one process or of several
//! that share the memory it lies in.
//!
//! Any worker. The holder must not suspend its fiber. A waiter spins for a bounded time, then gives
//! its core away between tries, since the system may have stopped the thread of the holder. Zeroed
//! memory is a free lock. Ordering labels: (A) acquire, (R) release. Source: test and
//! test-and-set, Rudolph and Segall 1984.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/cpu.hpp"
#include "os/thread.hpp"

namespace sorrel::mpi {

class SpinLock {
 public:
  void lock() {
    // (A) acquire, pairs with (R): what the last holder wrote is visible.
    while (word_.exchange(1, std::memory_order_acquire) != 0) [[unlikely]]
      wait();
  }

  void unlock() {
    // (R) release, pairs with (A).
    word_.store(0, std::memory_order_release);
  }

 private:
  static constexpr int spin_count_max = 100;

  [[gnu::cold]] void wait() {
    // Relaxed: only a guess; the exchange decides.
    for (int i = 0; i < spin_count_max; ++i) {
      if (word_.load(std::memory_order_relaxed) == 0) return;
      arch::pause();
    }
    os::yield_core();
  }

  std::atomic<std::uint32_t> word_{0};
};

}  // namespace sorrel::mpi
