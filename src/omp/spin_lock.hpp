//! SpinLock - for a few instructions at a time, never across a switch of fibers.
//!
//! Any thread. A waiter gives its core away after a while: the holder may have lost its own.
//! Ordering label: (L) taking and letting go.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/cpu.hpp"
#include "os/thread.hpp"

namespace sorrel::omp {

class SpinLock {
 public:
  void lock() {
    // (L) acquire, pairs with unlock().
    while (is_locked_.exchange(1, std::memory_order_acquire) != 0)
      wait();
  }

  // (L) release, pairs with lock().
  void unlock() { is_locked_.store(0, std::memory_order_release); }

 private:
  [[gnu::noinline]] void wait() const {
    constexpr int rounds_before_yield = 200;
    // Relaxed: a guess, the exchange decides.
    for (int round = 0; is_locked_.load(std::memory_order_relaxed) != 0; ++round) {
      if (round < rounds_before_yield) {
        arch::pause();
      } else {
        os::yield_core();
      }
    }
  }

  std::atomic<std::uint32_t> is_locked_{0};
};

}  // namespace sorrel::omp
