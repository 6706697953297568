//! StartedThreads - the number of threads that a rank has started and that have not ended.
//!
//! pthread_create() counts up, in a rank and in threads that it has started. The end of each thread
//! counts down, however it ends. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/check.hpp"

namespace sorrel::program {

class StartedThreads {
 public:
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }

  /// Release, pairs with count(): orders the thread's last writes.
  void remove() {
    const std::int32_t before = count_.fetch_sub(1, std::memory_order_release);
    SORREL_ASSERT(before > 0, "%d threads, and one ends", before);
  }

  [[nodiscard]] bool any() const { return count() != 0; }

  [[nodiscard]] std::int32_t count() const { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::int32_t> count_{0};
};

}  // namespace sorrel::program
