#include "grid/plan/placement.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "unit/grid/simple_machine.hpp"

namespace sorrel::grid {
namespace {

Machine machine_of_groups(int group_ranks) {
  Machine machine = simple_machine();
  Link inner = machine.links.front();
  inner.group_ranks = group_ranks;
  machine.links.insert(machine.links.begin(), inner);
  return machine;
}

// The slow oracle: checks both neighbours of every rank of a grid that is periodic in all
// dimensions.
struct Counted {
  double mean;
  int worst;
};

Counted count_far(const Cut& cut, std::size_t dimension, int group) {
  const int ranks = cut.rank_count();
  Counted counted{.mean = 0, .worst = 0};
  for (int rank = 0; rank < ranks; ++rank) {
    int far = 0;
    for (const int step : {-1, 1}) {
      ProcessGrid coords = coords_of(rank, cut.grid, cut.brick);
      const int parts = cut.grid[dimension];
      coords[dimension] = (coords[dimension] + step + parts) % parts;
      if (rank_of(coords, cut.grid, cut.brick) / group != rank / group) ++far;
    }
    counted.mean += far / 2.0 / ranks;
    counted.worst = std::max(counted.worst, far);
  }
  return counted;
}

TEST(Placement, BricksOfAGroupCrossAsOftenAsCountingTells) {
  constexpr int group = 8;
  const Machine machine = machine_of_groups(group);
  Cut cut;
  cut.grid = {4, 4, 8};
  const auto bricks = bricks_of(machine, cut.grid);
  EXPECT_EQ(bricks.size(), 1U + 8U);
  for (std::size_t i = 1; i < bricks.size(); ++i) {
    cut.brick = bricks[i];
    for (std::size_t d = 0; d < 3; ++d) {
      const auto shares = link_shares(machine, cut, d, 2);
      const Counted far = count_far(cut, d, group);
      EXPECT_DOUBLE_EQ(shares[1].mean, far.mean);
      EXPECT_EQ(shares[1].worst, far.worst);
      EXPECT_DOUBLE_EQ(shares[0].mean + shares[1].mean, 1);
    }
  }
}

TEST(Placement, OneLinkReachesEverybody) {
  Cut cut;
  cut.grid = cut.brick = {2, 3, 4};
  const auto shares = link_shares(simple_machine(), cut, 1, 2);
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_DOUBLE_EQ(shares[0].mean, 1);
  EXPECT_EQ(shares[0].worst, 2);
}

TEST(Placement, AGroupThatDoesNotDivideLeavesRowMajorOrder) {
  EXPECT_EQ(bricks_of(machine_of_groups(5), {4, 4, 2}), (std::vector<ProcessGrid>{{4, 4, 2}}));
}

TEST(Placement, TheBrickOfLeastSurfaceKeepsLargeFacesWithinAGroup) {
  Problem problem;
  problem.extents = {64, 64, 1024};
  // Faces across the long dimension are the small ones, so these should cross groups.
  EXPECT_EQ(brick_of_least_surface(problem, {2, 2, 4}, 4), (ProcessGrid{2, 2, 1}));
  EXPECT_EQ(brick_of_least_surface(problem, {2, 2, 4}, 5), (ProcessGrid{2, 2, 4}));
}

TEST(Placement, GroupsAreCountedOrSized) {
  EXPECT_EQ(group_size({.name = "", .group_ranks = 8}, 64), 8);
  EXPECT_EQ(group_size({.name = "", .group_count = 2}, 64), 32);
  EXPECT_EQ(group_size({.name = "", .group_count = 100}, 64), 1);
  EXPECT_EQ(group_size({.name = ""}, 64), 64);
}

}  // namespace
}  // namespace sorrel::grid
