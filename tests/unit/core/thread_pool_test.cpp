#include "core/thread_pool.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>

namespace sorrel::core {
namespace {

/// Helpers that count the wake-ups they are given. Pools live as long as their threads.
struct Counters;

struct Helper : PoolThread {
  Counters* counters = nullptr;
};

struct Counters {
  explicit Counters(std::uint32_t count_max) : pool(count_max) {}

  ThreadPool<Helper> pool;
  std::atomic<std::uint32_t> work{0};
  std::atomic<std::uint32_t> done{0};
  std::array<std::atomic<bool>, 4> has_run{};

  bool start(std::uint32_t limit) {
    return pool.start(limit, main, [this](Helper& helper) { helper.counters = this; });
  }

  void publish(std::uint32_t limit) {
    work.fetch_add(1, std::memory_order_seq_cst);
    if (pool.has_parked()) (void)pool.wake_first(limit, [](Helper&) {});
  }

  static void* main(void* argument) {
    auto& self = *static_cast<Helper*>(argument);
    Counters& counters = *self.counters;
    counters.has_run[counters.pool.number_of(self)].store(true);
    for (;;) {
      while (counters.take())
        counters.done.fetch_add(1);
      counters.pool.park(self, [&] { return counters.work.load(std::memory_order_seq_cst) != 0; });
    }
    return nullptr;
  }

  bool take() {
    std::uint32_t left = work.load();
    while (left != 0 && !work.compare_exchange_weak(left, left - 1)) {
    }
    return left != 0;
  }

  void wait_until_asleep(std::uint32_t awake) const {
    while (pool.awake_count() != awake)
      os::yield_core();
  }
};

TEST(ThreadPoolTest, StartsHelpersByNumberBelowTheLimit) {
  auto& counters = *new Counters(3);
  EXPECT_FALSE(counters.pool.has_parked());
  EXPECT_FALSE(counters.start(1));
  EXPECT_TRUE(counters.start(3));
  EXPECT_TRUE(counters.start(3));
  EXPECT_FALSE(counters.start(3)) << "helper 3 is not below the limit";
  EXPECT_TRUE(counters.start(~0U));
  EXPECT_FALSE(counters.start(~0U)) << "the pool has three";
  EXPECT_EQ(counters.pool.started_count(), 3U);
  counters.wait_until_asleep(0);
  EXPECT_TRUE(counters.has_run[1] && counters.has_run[2] && counters.has_run[3]);
}

TEST(ThreadPoolTest, WakesTheFirstThatSleepsBelowTheLimit) {
  auto& counters = *new Counters(2);
  ASSERT_TRUE(counters.start(3) && counters.start(3));
  counters.wait_until_asleep(0);
  EXPECT_FALSE(counters.pool.wake_first(1, [](Helper&) {}));
  std::uint32_t woken = 0;
  EXPECT_TRUE(counters.pool.wake_first(
      3, [&](Helper& helper) { woken = counters.pool.number_of(helper); }));
  EXPECT_EQ(woken, 1U);
}

TEST(ThreadPoolTest, NoPublishedWorkIsLeftWhileHelpersSleep) {
  auto& counters = *new Counters(3);
  while (counters.pool.started_count() < 3)
    (void)counters.start(4);
  constexpr std::uint32_t count = 20'000;
  for (std::uint32_t i = 0; i < count; ++i) {
    counters.publish(4);
    // Now and then all are asleep, or about to be.
    if (i % 16 == 0) {
      while (counters.done.load() != i + 1)
        os::yield_core();
    }
  }
  while (counters.done.load() != count)
    os::yield_core();
  counters.wait_until_asleep(0);
  EXPECT_TRUE(counters.pool.has_parked());
}

}  // namespace
}  // namespace sorrel::core
