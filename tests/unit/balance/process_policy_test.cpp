// When ranks move between processes. A window is 1000 units.
#include "balance/process_policy.hpp"

#include <array>
#include <gtest/gtest.h>

namespace sorrel::balance {
namespace {

constexpr Costs cheap{.stop = 5, .move = 1};

TEST(ProcessPolicy, WantsNothingWhileBalanced) {
  ProcessPolicy policy(2, cheap);
  for (int i = 0; i < 1000; ++i)
    EXPECT_FALSE(policy.observe(std::array{800.0 + i % 3, 800.0}));
  EXPECT_EQ(policy.counts().uneven_windows, 0U);
}

TEST(ProcessPolicy, WantsAStepSoonAndWaitsForItsEffect) {
  ProcessPolicy policy(2, cheap);
  int windows = 1;
  while (!policy.observe(std::array{1000.0, 100.0}) && windows < 100)
    ++windows;
  EXPECT_EQ(windows, 3);
  policy.record_step(400);
  for (int i = 0; i < 100; ++i)
    EXPECT_FALSE(policy.observe(std::array{550.0, 550.0}));
  EXPECT_EQ(policy.counts().steps, 1U);
  EXPECT_EQ(policy.counts().judged_steps, 1U);
  EXPECT_GT(policy.counts().imbalance_before, 0.5);
  EXPECT_DOUBLE_EQ(policy.counts().imbalance_after, 0);
}

TEST(ProcessPolicy, AsksLessOftenWhenStepsMoveNothing) {
  ProcessPolicy policy(2, cheap);
  int steps = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!policy.observe(std::array{1000.0, 100.0})) continue;
    ++steps;
    policy.record_nothing();
  }
  EXPECT_GE(steps, 5);
  EXPECT_LE(steps, 12);
}

TEST(ProcessPolicy, WantsNoStepThatCostsMoreThanItGains) {
  ProcessPolicy policy(2, {.stop = 1e6, .move = 1e5});
  for (int i = 0; i < 200; ++i)
    EXPECT_FALSE(policy.observe(std::array{1000.0, 100.0}));
}

TEST(ProcessPolicy, AsksForLessGainTheLongerAStateHasLasted) {
  ProcessPolicy policy(2, {.stop = 100, .move = 10});
  (void)policy.observe(std::array{1000.0, 100.0});
  const double at_first = policy.gain_needed().stop;
  for (int i = 0; i < 200; ++i)
    (void)policy.observe(std::array{1000.0, 100.0});
  EXPECT_LT(policy.gain_needed().stop, at_first / 50);
  EXPECT_GT(policy.gain_needed().move, 0);
}

TEST(ProcessPolicy, CountsARankByItsTouchedMemory) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  EXPECT_EQ(move_weight(0), 1U);
  EXPECT_EQ(move_weight(mib), 1U);
  EXPECT_EQ(move_weight(mib + 1), 2U);
  EXPECT_EQ(move_weight(3072 * mib), 3072U);
}

// A rank of 3 GiB takes seconds: what is worth a small one is not worth it, however near the gain.
TEST(ProcessPolicy, AsksForTheGainThatTheMemoryOfRanksIsWorth) {
  constexpr Costs needed{.stop = 5, .move = 1};
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  EXPECT_TRUE(is_worth(6, needed, move_weight(1000)));
  EXPECT_FALSE(is_worth(5.9, needed, move_weight(1000)));
  EXPECT_FALSE(is_worth(3000, needed, move_weight(3 * gib)));
  EXPECT_TRUE(is_worth(3077, needed, move_weight(3 * gib)));
}

TEST(ProcessPolicy, WantsMoreGainWhereRanksHaveTakenLongToMove) {
  ProcessPolicy policy(2, {.stop = 10, .move = 10});
  const double at_first = policy.gain_needed().move;
  policy.record_move_time(1);
  EXPECT_EQ(policy.gain_needed().move, at_first);
  policy.record_move_time(1000);
  EXPECT_GT(policy.gain_needed().move, 40 * at_first);
  for (int i = 0; i < 20; ++i)
    policy.record_move_time(1);
  EXPECT_EQ(policy.gain_needed().move, at_first);
}

}  // namespace
}  // namespace sorrel::balance
