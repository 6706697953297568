//! SpinLock - held for a few instructions, never across a switch of fibers.
//!
//! Any thread. A waiter yields its core after a while, because the holder may have lost its own.
//! Ordering label: (L) lock and unlock.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/cpu.hpp"
#include "os/thread.hpp"

namespace sorrel::omp {

/// Waits between two polls of what another thread does in a few instructions.
class Pause {
 public:
  void wait() {
    constexpr int rounds_before_yield = 200;
    if (++round_ < rounds_before_yield) {
      arch::pause();
    } else {
      os::yield_core();
    }
  }

 private:
  int round_ = 0;
};

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
    // Relaxed: a guess, the exchange decides.
    for (Pause pause; is_locked_.load(std::memory_order_relaxed) != 0;)
      pause.wait();
  }

  std::atomic<std::uint32_t> is_locked_{0};
};

}  // namespace sorrel::omp
