#include <gtest/gtest.h>
#include <set>

#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {
namespace {

TEST(Layout, EveryRankHasAPlaceOfItsOwnInEveryBrick) {
  const ProcessGrid grid{4, 6, 2};
  for (const ProcessGrid& brick :
       {ProcessGrid{1, 1, 1}, ProcessGrid{2, 3, 1}, ProcessGrid{4, 1, 2}, grid}) {
    std::set<ProcessGrid> places;
    for (int rank = 0; rank < 48; ++rank) {
      const ProcessGrid coords = coords_of(rank, grid, brick);
      EXPECT_EQ(rank_of(coords, grid, brick), rank);
      places.insert(coords);
    }
    EXPECT_EQ(places.size(), 48U);
    EXPECT_EQ(*places.rbegin(), (ProcessGrid{3, 5, 1}));
  }
}

TEST(Layout, ConsecutiveRanksFillABrick) {
  for (int rank = 0; rank < 6; ++rank) {
    const ProcessGrid coords = coords_of(rank + 6, {4, 6, 2}, {2, 3, 1});
    EXPECT_LT(coords[0], 2);
    EXPECT_LT(coords[1], 3);
    EXPECT_EQ(coords[2], 1);
  }
}

TEST(Layout, WithoutBricksRanksRunRowMajor) {
  EXPECT_EQ(coords_of(1, {4, 6, 2}, {4, 6, 2}), (ProcessGrid{0, 0, 1}));
  EXPECT_EQ(coords_of(12, {4, 6, 2}, {4, 6, 2}), (ProcessGrid{1, 0, 0}));
}

TEST(Layout, BlocksFollowEachOtherWithoutGapOrOverlap) {
  Problem problem;
  problem.extents = {17, 100, 5};
  const ProcessGrid grid{4, 7, 5};
  for (std::size_t d = 0; d < 3; ++d) {
    std::int64_t next = 0;
    for (int part = 0; part < grid[d]; ++part) {
      ProcessGrid coords{};
      coords[d] = part;
      const Box<3> block = block_at(problem, grid, coords);
      EXPECT_EQ(block.lo[d], next);
      EXPECT_GE(block.extent(d), problem.extents[d] / grid[d]);
      EXPECT_LE(block.extent(d), problem.extents[d] / grid[d] + 1);
      next += block.extent(d);
    }
    EXPECT_EQ(next, problem.extents[d]);
  }
}

TEST(Layout, BlocksOfACoarserLevelLieOverThoseOfTheFiner) {
  Problem fine;
  fine.extents = {48, 48, 1};
  fine.grain = 4;
  Problem coarse = fine;
  coarse.extents = {24, 24, 1};
  coarse.grain = 2;
  for (int part = 0; part < 5; ++part) {
    const Box<3> below = block_at(fine, {5, 1, 1}, {part, 0, 0});
    const Box<3> above = block_at(coarse, {5, 1, 1}, {part, 0, 0});
    EXPECT_EQ(below.lo[0], 2 * above.lo[0]);
    EXPECT_EQ(below.extent(0), 2 * above.extent(0));
  }
}

}  // namespace
}  // namespace sorrel::grid
