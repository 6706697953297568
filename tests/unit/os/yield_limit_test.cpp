#include "os/yield_limit.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace sorrel::os {
namespace {

constexpr std::int64_t microsecond_ns = 1'000;
constexpr std::int64_t millisecond_ns = 1'000'000;
constexpr std::int64_t whole_second_ns = 1'000'000'000;

/// A process that waits for messages of a process on the same core, as Worker does: it yields up to
/// 16 times, then sleeps. Each wait ends with the turn of the other process.
struct Waiter {
  YieldLimit limit;
  std::int64_t now_ns = 1;
  std::int64_t yield_count = 0;
  std::int64_t exchange_count = 0;

  /// `turn_ns`: for which a yield gives the core away; `needed`: yields until the message is there;
  /// `sleep_ns`: the wait if it sleeps at once.
  void run_until(std::int64_t end_ns, std::int64_t turn_ns, int needed, std::int64_t sleep_ns) {
    constexpr int yield_count_max = 16;
    while (now_ns < end_ns) {
      int yields = 0;
      while (yields < needed && yields < yield_count_max && limit.may_yield(now_ns)) {
        limit.record_turn(now_ns, now_ns + turn_ns);
        now_ns += turn_ns;
        ++yields;
      }
      yield_count += yields;
      if (yields < needed) now_ns += sleep_ns;
      ++exchange_count;
    }
  }
};

TEST(YieldLimitTest, TurnsOfTheJobsOwnProcessesNeverEndIt) {
  Waiter waiter;
  waiter.run_until(whole_second_ns, 5 * microsecond_ns, 2, 40 * microsecond_ns);
  EXPECT_EQ(waiter.yield_count, 2 * waiter.exchange_count);
  EXPECT_TRUE(waiter.limit.may_yield(waiter.now_ns));
}

/// Six threads that compute on the same core take 1.4 ms each.
TEST(YieldLimitTest, OnACrowdedMachineTrialsTakeLittleOfTheTime) {
  Waiter waiter;
  const std::int64_t turn_ns = 6 * 1'400 * microsecond_ns;
  waiter.run_until(60 * whole_second_ns, turn_ns, 3, 60 * microsecond_ns);
  EXPECT_LT(waiter.yield_count, 40);
  EXPECT_LT(waiter.yield_count * turn_ns, 60 * whole_second_ns / 100);
  // Nearly as many as without a yield.
  EXPECT_GT(waiter.exchange_count, 60 * whole_second_ns / (60 * microsecond_ns) * 98 / 100);
}

TEST(YieldLimitTest, YieldsAgainSoonAfterTheOtherThreadsHaveEnded) {
  Waiter waiter;
  waiter.run_until(60 * whole_second_ns, 10 * millisecond_ns, 3, 60 * microsecond_ns);
  waiter.run_until(60 * whole_second_ns + YieldLimit::pause_ns_max + millisecond_ns,
                   5 * microsecond_ns, 2, 60 * microsecond_ns);
  EXPECT_TRUE(waiter.limit.may_yield(waiter.now_ns));
  waiter.yield_count = waiter.exchange_count = 0;
  waiter.run_until(waiter.now_ns + whole_second_ns, 5 * microsecond_ns, 2, 60 * microsecond_ns);
  EXPECT_EQ(waiter.yield_count, 2 * waiter.exchange_count);
  // And the history is forgotten.
  waiter.limit.record_turn(waiter.now_ns, waiter.now_ns + 2 * millisecond_ns);
  EXPECT_FALSE(waiter.limit.may_yield(waiter.now_ns + 4 * millisecond_ns - 1));
  EXPECT_TRUE(waiter.limit.may_yield(waiter.now_ns + 4 * millisecond_ns));
}

/// Long turns are computations of the job's own processes here, between which messages are
/// exchanged: the pause is no longer than the computation.
TEST(YieldLimitTest, ComputationsOfTheJobDoNotAddUp) {
  Waiter waiter;
  for (int step = 0; step < 1000; ++step) {
    const std::int64_t began_ns = waiter.now_ns;
    waiter.now_ns += 2 * millisecond_ns;
    waiter.limit.record_turn(began_ns, waiter.now_ns);
    waiter.run_until(waiter.now_ns + 3 * millisecond_ns, 5 * microsecond_ns, 2,
                     40 * microsecond_ns);
    EXPECT_TRUE(waiter.limit.may_yield(waiter.now_ns)) << step;
  }
}

}  // namespace
}  // namespace sorrel::os
