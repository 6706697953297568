// Plans: which ranks move.
#include "balance/plan.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "base/prng.hpp"

namespace sorrel::balance {
namespace {

/// Ranks in blocks on places, as at the start of a job.
std::vector<RankLoad> in_blocks(std::uint32_t place_count, const std::vector<double>& loads) {
  std::vector<RankLoad> ranks;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    ranks.push_back(
        {.load = loads[i], .place = static_cast<std::uint32_t>(i * place_count / loads.size())});
  }
  return ranks;
}

constexpr std::size_t any_number = 1'000'000;

TEST(Plan, LeavesABalancedJobAlone) {
  const auto ranks = in_blocks(4, std::vector<double>(64, 1.0));
  EXPECT_TRUE(plan_moves(ranks, 4, any_number).empty());
}

TEST(Plan, LeavesIdleRanksAlone) {
  const auto ranks = in_blocks(4, std::vector<double>(64, 0.0));
  EXPECT_TRUE(plan_moves(ranks, 4, any_number).empty());
}

TEST(Plan, SpreadsTheBusyHalfInNeighbours) {
  std::vector<double> loads(16, 0.0);
  std::fill_n(loads.begin(), 8, 1.0);
  const auto ranks = in_blocks(2, loads);
  const auto moves = plan_moves(ranks, 2, any_number);
  const std::vector<Move> expected{{4, 0, 1}, {5, 0, 1}, {6, 0, 1}, {7, 0, 1}};
  EXPECT_EQ(moves, expected);
  EXPECT_DOUBLE_EQ(imbalance(place_loads_after(ranks, 2, moves)), 0);
}

TEST(Plan, DoesNotMoveTheOnlyBusyRank) {
  std::vector<double> loads(8, 0.01);
  loads[2] = 5;
  const auto ranks = in_blocks(2, loads);
  for (const Move& move : plan_moves(ranks, 2, any_number))
    EXPECT_NE(move.rank, 2U);
}

TEST(Plan, LeavesFixedRanksWhereTheyAre) {
  auto ranks = in_blocks(2, {1, 1, 1, 1, 0, 0, 0, 0});
  ranks[2].is_fixed = ranks[3].is_fixed = true;
  const auto moves = plan_moves(ranks, 2, any_number);
  const std::vector<Move> expected{{0, 0, 1}, {1, 0, 1}};
  EXPECT_EQ(moves, expected);
}

TEST(Plan, MovesNoMoreThanAllowed) {
  const auto ranks = in_blocks(2, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(plan_moves(ranks, 2, 2).size(), 2U);
  EXPECT_TRUE(plan_moves(ranks, 2, 0).empty());
}

TEST(Plan, IsNeverWorseAndNearTheBest) {
  Prng random(17);
  for (int round = 0; round < 300; ++round) {
    const auto place_count = static_cast<std::uint32_t>(1 + random.below(8));
    std::vector<RankLoad> ranks(place_count * (1 + random.below(20)));
    for (RankLoad& rank : ranks) {
      rank = {.load = random.below(3) == 0 ? static_cast<double>(random.below(1000)) : 0,
              .place = static_cast<std::uint32_t>(random.below(place_count))};
    }
    const auto moves = plan_moves(ranks, place_count, any_number);
    const auto before = place_loads(ranks, place_count);
    const auto after = place_loads_after(ranks, place_count, moves);
    const double total = std::accumulate(before.begin(), before.end(), 0.0);
    const double heaviest =
        std::ranges::max_element(ranks, {}, [](const RankLoad& rank) { return rank.load; })->load;
    EXPECT_LE(largest(after), largest(before) + 1e-9);
    // Graham's bound of the greedy order, with the tolerances.
    EXPECT_LE(largest(after), 1.2 * (total / place_count + heaviest) + 1e-9);
    for (const Move& move : moves) {
      EXPECT_EQ(move.from, ranks[move.rank].place);
      EXPECT_NE(move.from, move.to);
      EXPECT_LT(move.to, place_count);
    }
    EXPECT_TRUE(std::ranges::is_sorted(moves, {}, &Move::rank));
  }
}

}  // namespace
}  // namespace sorrel::balance
