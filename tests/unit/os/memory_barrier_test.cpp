#include "os/memory_barrier.hpp"

#include <gtest/gtest.h>
#include <thread>

namespace sorrel::os {
namespace {

TEST(MemoryBarrierTest, InitialisingTwiceGivesTheSameAnswer) {
  EXPECT_EQ(init_memory_barrier(), init_memory_barrier());
  EXPECT_EQ(init_memory_barrier(), membarrier_is_available);
}

/// Dekker's algorithm: both threads write, then read; at least one must see the other's write.
int count_of_rounds_missed_by_both(int round_count) {
  std::atomic<int> light_side{0};
  std::atomic<int> heavy_side{0};
  std::atomic<int> light_saw{0};
  std::atomic<int> light_round{0};
  std::atomic<int> heavy_round{0};
  int missed_count = 0;
  std::thread light([&] {
    for (int round = 1; round <= round_count; ++round) {
      while (heavy_round.load(std::memory_order_acquire) != round)
        std::this_thread::yield();
      light_side.store(round, std::memory_order_relaxed);
      light_barrier();
      light_saw.store(heavy_side.load(std::memory_order_relaxed), std::memory_order_relaxed);
      light_round.store(round, std::memory_order_release);
    }
  });
  for (int round = 1; round <= round_count; ++round) {
    heavy_round.store(round, std::memory_order_release);
    heavy_side.store(round, std::memory_order_relaxed);
    heavy_barrier();
    const int heavy_saw = light_side.load(std::memory_order_relaxed);
    while (light_round.load(std::memory_order_acquire) != round)
      std::this_thread::yield();
    if (heavy_saw != round && light_saw.load(std::memory_order_relaxed) != round) ++missed_count;
  }
  light.join();
  return missed_count;
}

TEST(MemoryBarrierTest, OneSideAlwaysSeesTheOther) {
  init_memory_barrier();
  EXPECT_EQ(count_of_rounds_missed_by_both(5000), 0);
}

TEST(MemoryBarrierTest, OneSideAlwaysSeesTheOtherWithoutMembarrierToo) {
  const bool available = init_memory_barrier();
  membarrier_is_available = false;
  EXPECT_EQ(count_of_rounds_missed_by_both(5000), 0);
  membarrier_is_available = available;
}

}  // namespace
}  // namespace sorrel::os
