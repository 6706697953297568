#include "grid/plan/node_torus.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

#include "unit/grid/random_problem.hpp"

namespace sorrel::grid {
namespace {

Cut cut_of(const ProcessGrid& grid, const ProcessGrid& brick) {
  Cut cut;
  cut.grid = grid;
  cut.brick = brick;
  return cut;
}

PerDimension<Hops> hops_of(const Torus& torus, const ProcessGrid& grid, int node_ranks = 1) {
  const Cut cut = cut_of(grid, grid);
  return NodeTorus(torus, cut.rank_count() / node_ranks, node_ranks).hops_of(cut, {});
}

// The slow oracle: steps from one node to the next, dimension by dimension, in the shorter
// direction.
int walked(std::vector<int> extents, bool wraps, int from, int to) {
  int hops = 0;
  std::reverse(extents.begin(), extents.end());
  for (const int extent : extents) {
    int forward = 0;
    for (int at = from % extent; at != to % extent; at = (at + 1) % extent)
      ++forward;
    const int straight = std::abs(from % extent - to % extent);
    hops += wraps ? std::min(forward, extent - forward) : straight;
    from /= extent;
    to /= extent;
  }
  return hops;
}

Hops counted(
    const Torus& torus, const Cut& cut, std::size_t dimension, bool is_periodic, int node_ranks) {
  int pairs = 0;
  int sum = 0;
  int most = 0;
  for (int rank = 0; rank < cut.rank_count(); ++rank) {
    ProcessGrid coords = coords_of(rank, cut.grid, cut.brick);
    const int parts = cut.grid[dimension];
    if (parts == 1 || (coords[dimension] + 1 == parts && !is_periodic)) continue;
    coords[dimension] = (coords[dimension] + 1) % parts;
    const int node = rank / node_ranks;
    const int other = rank_of(coords, cut.grid, cut.brick) / node_ranks;
    if (node == other) continue;
    const int hops = walked(torus.extents, torus.wraps, node, other);
    ++pairs;
    sum += hops;
    most = std::max(most, hops);
  }
  return {.mean = pairs == 0 ? 0 : static_cast<double>(sum) / pairs, .most = most};
}

TEST(NodeTorus, AGridOfTheShapeOfTheTorusHasOneHopToEachNeighbour) {
  for (const bool wraps : {true, false}) {
    for (const Hops& hops : hops_of({.extents = {4, 2, 3}, .wraps = wraps}, {4, 2, 3})) {
      EXPECT_DOUBLE_EQ(hops.mean, 1);
      EXPECT_EQ(hops.most, 1);
    }
  }
}

TEST(NodeTorus, ARowOfRanksTurnsAtTheEndsOfTheTorus) {
  // 15 pairs: 8 are 1 hop apart, 4 turn once (2 hops), 3 turn twice (3 hops).
  const Hops hops = hops_of({.extents = {4, 2, 2}}, {16, 1, 1})[0];
  EXPECT_DOUBLE_EQ(hops.mean, 25.0 / 15);
  EXPECT_EQ(hops.most, 3);
}

TEST(NodeTorus, AMeshHasLongerWaysBackThanATorus) {
  EXPECT_EQ(hops_of({.extents = {4, 4}, .wraps = true}, {16, 1, 1})[0].most, 2);
  EXPECT_EQ(hops_of({.extents = {4, 4}, .wraps = false}, {16, 1, 1})[0].most, 4);
}

TEST(NodeTorus, AHypercubeIsATorusOfTwos) {
  // From 011 to 100 all three digits change.
  EXPECT_EQ(hops_of({.extents = {2, 2, 2}}, {8, 1, 1})[0].most, 3);
}

TEST(NodeTorus, ExtentsAreBalancedForTheNodesOfTheJob) {
  const auto extents = [](int node_count) {
    return NodeTorus({.extents = {0, 0, 0}}, node_count, 1).extents();
  };
  EXPECT_EQ(extents(1), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(extents(16), (std::vector<int>{4, 2, 2}));
  EXPECT_EQ(extents(40), (std::vector<int>{5, 4, 2}));
  EXPECT_EQ(extents(64), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(extents(97), (std::vector<int>{97, 1, 1}));
}

TEST(NodeTorus, BricksFillWholeDimensions) {
  EXPECT_EQ(NodeTorus({.extents = {4, 3, 2}}, 24, 5).brick_sizes(), (std::vector<int>{10, 30}));
  EXPECT_EQ(NodeTorus({.extents = {4, 3, 1}}, 12, 1).brick_sizes(), (std::vector<int>{3}));
  EXPECT_TRUE(NodeTorus({.extents = {8}}, 8, 1).brick_sizes().empty());
}

TEST(NodeTorus, CountsAsWalkingTells) {
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(test_seed()));
  Prng prng(test_seed());
  const ProcessGrid grids[] = {{4, 4, 2}, {8, 2, 2}, {2, 16, 1}, {3, 4, 5}, {1, 1, 24}};
  const ProcessGrid bricks[] = {{2, 2, 1}, {4, 1, 2}, {1, 4, 1}, {3, 2, 5}, {1, 1, 6}};
  for (int round = 0; round < 200; ++round) {
    const auto which = static_cast<std::size_t>(prng.below(std::size(grids)));
    const Cut cut = cut_of(grids[which], prng.below(2) == 0 ? grids[which] : bricks[which]);
    const int node_ranks = 1 << prng.below(3);
    Torus torus;
    torus.wraps = prng.below(2) == 0;
    for (int node_count = 1; node_count * node_ranks < cut.rank_count();
         node_count *= torus.extents.back())
      torus.extents.push_back(static_cast<int>(2 + prng.below(5)));
    if (torus.extents.empty()) torus.extents.push_back(1);
    Problem problem;
    problem.is_periodic = {prng.below(2) == 0, prng.below(2) == 0, prng.below(2) == 0};
    const int node_count = (cut.rank_count() + node_ranks - 1) / node_ranks;
    ASSERT_TRUE(NodeTorus::check(torus, node_count)) << node_count;
    const auto hops = NodeTorus(torus, node_count, node_ranks).hops_of(cut, problem);
    for (std::size_t d = 0; d < 3; ++d) {
      const Hops expected = counted(torus, cut, d, problem.is_periodic[d], node_ranks);
      EXPECT_DOUBLE_EQ(hops[d].mean, expected.mean);
      EXPECT_EQ(hops[d].most, expected.most);
    }
  }
}

}  // namespace
}  // namespace sorrel::grid
