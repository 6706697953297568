#include "os/memory_barrier.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <thread>

#include "os/clock.hpp"

namespace sorrel::os {
namespace {

TEST(MemoryBarrierTest, InitialisingTwiceGivesTheSameAnswer) {
  EXPECT_EQ(init_memory_barrier(), init_memory_barrier());
  EXPECT_EQ(init_memory_barrier(), membarrier_is_available);
}

/// Dekker's algorithm: both threads write, then read; at least one must see the other's write. On a
/// busy machine a round takes time slices: after some seconds the minimum of rounds is enough.
int count_of_rounds_missed_by_both() {
  constexpr int round_count_min = 500;
  constexpr int round_count_max = 5000;
  constexpr int end = -1;
  std::atomic<int> light_side{0};
  std::atomic<int> heavy_side{0};
  std::atomic<int> light_saw{0};
  std::atomic<int> light_round{0};
  std::atomic<int> heavy_round{0};
  int missed_count = 0;
  std::thread light([&] {
    for (int round = 1;; ++round) {
      int now = 0;
      while ((now = heavy_round.load(std::memory_order_acquire)) != round && now != end)
        std::this_thread::yield();
      if (now == end) return;
      light_side.store(round, std::memory_order_relaxed);
      light_barrier();
      light_saw.store(heavy_side.load(std::memory_order_relaxed), std::memory_order_relaxed);
      light_round.store(round, std::memory_order_release);
    }
  });
  const std::int64_t end_ns = monotonic_ns() + 5'000'000'000;
  for (int round = 1; round <= round_count_max; ++round) {
    if (round > round_count_min && monotonic_ns() > end_ns) break;
    heavy_round.store(round, std::memory_order_release);
    heavy_side.store(round, std::memory_order_relaxed);
    heavy_barrier();
    const int heavy_saw = light_side.load(std::memory_order_relaxed);
    while (light_round.load(std::memory_order_acquire) != round)
      std::this_thread::yield();
    if (heavy_saw != round && light_saw.load(std::memory_order_relaxed) != round) ++missed_count;
  }
  heavy_round.store(end, std::memory_order_release);
  light.join();
  return missed_count;
}

TEST(MemoryBarrierTest, OneSideAlwaysSeesTheOther) {
  init_memory_barrier();
  EXPECT_EQ(count_of_rounds_missed_by_both(), 0);
}

TEST(MemoryBarrierTest, OneSideAlwaysSeesTheOtherWithoutMembarrierToo) {
  const bool available = init_memory_barrier();
  membarrier_is_available = false;
  EXPECT_EQ(count_of_rounds_missed_by_both(), 0);
  membarrier_is_available = available;
}

}  // namespace
}  // namespace sorrel::os
