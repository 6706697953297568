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

// The slow oracle: checks both sides of every rank.
struct Counted {
  double sides = 0;  ///< with a neighbour: mean of the group with the most
  double far = 0;    ///< with a neighbour in another group: the same
  int worst = 0;     ///< the most of one rank's
};

Counted count_sides(const Cut& cut, const Face& face, int group) {
  Counted counted;
  for (int first = 0; first < cut.rank_count(); first += group) {
    int all = 0;
    int far = 0;
    for (int rank = first; rank < first + group; ++rank) {
      int far_of_rank = 0;
      for (const int step : {-1, 1}) {
        ProcessGrid coords = coords_of(rank, cut.grid, cut.brick);
        const int parts = cut.grid[face.dimension];
        int& at = coords[face.dimension];
        at += step;
        if (face.is_periodic) at = (at + parts) % parts;
        if (at < 0 || at == parts) continue;
        ++all;
        if (rank_of(coords, cut.grid, cut.brick) / group != rank / group) ++far_of_rank;
      }
      far += far_of_rank;
      counted.worst = std::max(counted.worst, far_of_rank);
    }
    counted.sides = std::max(counted.sides, static_cast<double>(all) / group);
    counted.far = std::max(counted.far, static_cast<double>(far) / group);
  }
  return counted;
}

void expect_counted(const Cut& cut, int group, bool is_periodic) {
  for (std::size_t d = 0; d < 3; ++d) {
    if (cut.grid[d] == 1) continue;
    Face face;
    face.dimension = d;
    face.is_periodic = is_periodic;
    face.side_count = is_periodic ? 2 : std::min(cut.grid[d] - 1, 2);
    const Counted counted = count_sides(cut, face, group);
    const double sides = sides_per_rank(cut, face, group);
    EXPECT_DOUBLE_EQ(sides, counted.sides);
    const auto shares = link_shares(machine_of_groups(group), cut, face, sides);
    EXPECT_DOUBLE_EQ(shares[1].sides, counted.far);
    EXPECT_EQ(shares[1].worst, counted.worst);
    EXPECT_DOUBLE_EQ(shares[0].sides + shares[1].sides, sides);
  }
}

TEST(Placement, NeighboursInAGroupAndBeyondItAreThoseThatCountingFinds) {
  const ProcessGrid grids[] = {{4, 4, 8}, {4, 1, 1}, {64, 1, 1}, {8, 8, 1}, {2, 2, 1}, {2, 4, 16}};
  for (const ProcessGrid& grid : grids) {
    for (const int group : {1, 2, 4, 8, 16, 32, 64}) {
      Cut cut;
      cut.grid = grid;
      if (group > grid[0] * grid[1] * grid[2]) continue;
      for (const ProcessGrid& brick : bricks_of(machine_of_groups(group), grid)) {
        cut.brick = brick;
        for (const bool is_periodic : {false, true})
          expect_counted(cut, group, is_periodic);
      }
    }
  }
}

TEST(Placement, BricksOfAGroupsSizeAreAllTried) {
  EXPECT_EQ(bricks_of(machine_of_groups(8), {4, 4, 8}).size(), 1U + 8U);
}

TEST(Placement, OneRowOverTwoGroupsHasOnePairAcross) {
  Cut cut;
  cut.grid = cut.brick = {4, 1, 1};
  Face face;
  face.side_count = 2;
  // Each group of two ranks has three sides with a neighbour, one of them across.
  EXPECT_DOUBLE_EQ(sides_per_rank(cut, face, 2), 1.5);
  const auto shares = link_shares(machine_of_groups(2), cut, face, 1.5);
  EXPECT_DOUBLE_EQ(shares[0].sides, 1);
  EXPECT_DOUBLE_EQ(shares[1].sides, 0.5);
}

TEST(Placement, OneLinkReachesAllNeighbours) {
  Cut cut;
  cut.grid = cut.brick = {2, 3, 4};
  Face face;
  face.dimension = 1;
  face.side_count = 2;
  const auto shares = link_shares(simple_machine(), cut, face, 2);
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_DOUBLE_EQ(shares[0].sides, 2);
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
