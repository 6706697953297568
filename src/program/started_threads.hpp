//! StartedThreads - how many threads a rank has started that have not ended.
//!
//! Counted by pthread_create(), in a rank and in threads that it has started, and by the end of
//! each thread, however it ends. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::program {

class RankProcess;

class StartedThreads {
 public:
  void add() { count_.fetch_add(1, std::memory_order_relaxed); }

  /// Release, pairs with any(): what the thread has done.
  void remove() { count_.fetch_sub(1, std::memory_order_release); }

  [[nodiscard]] bool any() const { return count_.load(std::memory_order_acquire) != 0; }

 private:
  std::atomic<std::int32_t> count_{0};
};

/// The rank that has started the calling thread, or whose thread has; null in every other thread,
/// and in a rank's own fiber.
[[nodiscard]] RankProcess* starter_of_thread();

}  // namespace sorrel::program
