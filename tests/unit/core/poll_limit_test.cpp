#include "core/poll_limit.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace sorrel::core {
namespace {

TEST(PollLimitTest, IsBriefOnlyAfterALongWait) {
  EXPECT_EQ(poll_limit<std::int64_t>(0, 2000, 100), 2000);
  EXPECT_EQ(poll_limit<std::int64_t>(1999, 2000, 100), 2000);
  EXPECT_EQ(poll_limit<std::int64_t>(2000, 2000, 100), 100);
  EXPECT_EQ(poll_limit<std::int64_t>(5000, 50, 100), 50);
  EXPECT_EQ(poll_limit<std::int64_t>(0, 0, 100), 0);
}

TEST(CoreLossTest, WakeUpsOfIdleCoresAreNone) {
  CoreLoss loss;
  loss.begin({.run_ns = 0, .delay_ns = 7'000'000, .slice_count = 3});
  loss.record({.run_ns = 0, .delay_ns = 107'000'000, .slice_count = 1003}, 1000);
  EXPECT_FALSE(loss.is_recent(1000));
}

TEST(CoreLossTest, IsRememberedForAMultipleOfItsDuration) {
  constexpr std::int64_t lost_ns = 3 * CoreLoss::lost_ns_min;
  CoreLoss loss;
  loss.begin({.run_ns = 0, .delay_ns = 0, .slice_count = 0});
  loss.record({.run_ns = 0, .delay_ns = lost_ns + wake_ns_max, .slice_count = 1}, 1000);
  EXPECT_TRUE(loss.is_recent(1000 + CoreLoss::memory_factor * lost_ns - 1));
  EXPECT_FALSE(loss.is_recent(1000 + CoreLoss::memory_factor * lost_ns));
  loss.record({.run_ns = 0, .delay_ns = 9'000'000'000, .slice_count = 2}, 2000);
  EXPECT_FALSE(loss.is_recent(2000 + CoreLoss::memory_ns_max));
}

}  // namespace
}  // namespace sorrel::core
