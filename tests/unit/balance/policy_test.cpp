// When ranks move. A window is 1000 units.
#include "balance/policy.hpp"

#include <gtest/gtest.h>

namespace sorrel::balance {
namespace {

constexpr Costs cheap{.stop = 5, .move = 1};

/// A job of 16 ranks on 2 places, whose ranks follow the plans.
class Job {
 public:
  explicit Job(const Costs& costs) : policy(16, 2, costs) {
    for (std::uint32_t i = 0; i < 16; ++i)
      ranks_.push_back({.load = 0, .place = i / 8});
  }

  /// A window in which each busy rank computes for `load`. Returns the number of moves.
  template <class IsBusy>
  std::size_t window(IsBusy&& is_busy, double load) {
    for (std::uint32_t i = 0; i < 16; ++i)
      ranks_[i].load = is_busy(i) ? load : 0;
    const auto moves = policy.observe(ranks_);
    for (const Move& move : moves) {
      EXPECT_EQ(ranks_[move.rank].place, move.from);
      ranks_[move.rank].place = move.to;
    }
    if (!moves.empty()) policy.record_step(moves);
    return moves.size();
  }

  [[nodiscard]] double imbalance_now() const { return imbalance(place_loads(ranks_, 2)); }

  Policy policy;

 private:
  std::vector<RankLoad> ranks_;
};

bool is_in_first_half(std::uint32_t rank) {
  return rank < 8;
}

TEST(Policy, MovesNothingWhileBalanced) {
  Job job(cheap);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(job.window([](std::uint32_t) { return true; }, 100 + i % 3), 0U);
  EXPECT_EQ(job.policy.counts().steps, 0U);
  EXPECT_EQ(job.policy.counts().uneven_windows, 0U);
}

TEST(Policy, BalancesWithinTenWindowsAndThenRests) {
  Job job(cheap);
  std::size_t moved = 0;
  for (int i = 0; i < 10; ++i)
    moved += job.window(is_in_first_half, 100);
  EXPECT_EQ(moved, 4U);
  EXPECT_LT(job.imbalance_now(), 0.01);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(job.window(is_in_first_half, 100), 0U);
  EXPECT_EQ(job.policy.counts().steps, 1U);
  EXPECT_DOUBLE_EQ(job.policy.counts().imbalance_before, 1);
  EXPECT_DOUBLE_EQ(job.policy.counts().imbalance_after, 0);
}

TEST(Policy, FollowsAChangeOfTheBusyRanks) {
  Job job(cheap);
  for (int i = 0; i < 20; ++i)
    job.window([](std::uint32_t rank) { return rank < 8; }, 100);
  for (int i = 0; i < 20; ++i)
    job.window([](std::uint32_t rank) { return rank >= 2 && rank < 6; }, 100);
  EXPECT_LT(job.imbalance_now(), 0.01);
}

TEST(Policy, DoesNotFollowNoise) {
  Job job(cheap);
  // Another rank is busy in each window.
  for (std::uint32_t i = 0; i < 500; ++i)
    job.window([&](std::uint32_t rank) { return rank == i * 7 % 16; }, 800);
  EXPECT_LE(job.policy.counts().steps, 2U);
}

TEST(Policy, DoesNotMoveWhatCostsMoreThanItGains) {
  Job job({.stop = 1e6, .move = 1e5});
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(job.window(is_in_first_half, 1), 0U);
}

TEST(Policy, WaitsForAGainThatPaysLater) {
  // 400 a window is gained; the step costs 5400.
  Job job({.stop = 5000, .move = 100});
  int windows = 0;
  while (windows < 100 && job.window(is_in_first_half, 100) == 0)
    ++windows;
  EXPECT_GT(windows, 20);
  EXPECT_LT(windows, 40);
}

TEST(Policy, PlansLessOftenWhenNoMoveIsMade) {
  Policy policy(4, 2, cheap);
  const std::vector<RankLoad> ranks{{.load = 100}, {.load = 100}, {.place = 1}, {.place = 1}};
  int plans = 0;
  for (int i = 0; i < 1000; ++i) {
    if (policy.observe(ranks).empty()) continue;
    ++plans;
    policy.record_step({});
  }
  // Distances are doubled: 2, 4, 8, ... windows.
  EXPECT_GE(plans, 5);
  EXPECT_LE(plans, 12);
}

/// 12 ranks of equal load at 4 places, then at 3, then at 4: each place has its part after a few
/// windows.
TEST(Policy, FollowsTheNumberOfPlaces) {
  Policy policy(12, 4, cheap);
  std::vector<RankLoad> ranks(12, {.load = 100});
  for (std::uint32_t i = 0; i < 12; ++i)
    ranks[i].place = i / 3;
  const auto run_windows = [&](int count) {
    std::size_t moved = 0;
    for (int i = 0; i < count; ++i) {
      const auto moves = policy.observe(ranks);
      for (const Move& move : moves)
        ranks[move.rank].place = move.to;
      if (!moves.empty()) policy.record_step(moves);
      moved += moves.size();
    }
    return moved;
  };
  EXPECT_EQ(run_windows(20), 0U);
  policy.set_place_count(3);
  // Its thread runs the ranks of two places.
  for (RankLoad& rank : ranks)
    rank.place = rank.place * 3 / 4;
  EXPECT_EQ(place_loads(ranks, 3), (std::vector<double>{600, 300, 300}));
  EXPECT_LE(run_windows(20), 3U);
  EXPECT_EQ(place_loads(ranks, 3), (std::vector<double>{400, 400, 400}));
  policy.set_place_count(4);
  EXPECT_NEAR(imbalance(place_loads(ranks, 4)), 1.0 / 3, 1e-9);
  EXPECT_GE(run_windows(40), 3U);
  EXPECT_DOUBLE_EQ(imbalance(place_loads(ranks, 4)), 0);
  EXPECT_EQ(policy.counts().place_changes, 2U);
}

TEST(Policy, ForgetsThatStepsDidNotPayWhenThereAreOtherPlaces) {
  Policy policy(4, 2, cheap);
  const std::vector<RankLoad> ranks{{.load = 100}, {.load = 100}, {.place = 1}, {.place = 1}};
  const auto windows_until_plan = [&] {
    int windows = 1;
    while (policy.observe(ranks).empty())
      ++windows;
    return windows;
  };
  for (int i = 0; i < 6; ++i) {
    windows_until_plan();
    policy.record_step({});
  }
  EXPECT_GT(windows_until_plan(), 30);
  policy.set_place_count(3);
  EXPECT_LT(windows_until_plan(), 5);
}

}  // namespace
}  // namespace sorrel::balance
