#include "sorrel/range.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace sorrel {
namespace {

TEST(RangeTest, AForStatementVisitsEachInteger) {
  std::vector<std::int64_t> seen;
  for (const std::int64_t i : Range{-1, 3})
    seen.push_back(i);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{-1, 0, 1, 2}));
  for (const std::int64_t i : Range{3, -1})
    FAIL() << i;
}

TEST(BoxTest, AForStatementVisitsPointsWithTheLastDimensionFastest) {
  std::vector<Box<2>::Point> seen;
  for (const Box<2>::Point& point : Box<2>{{1, 5}, {3, 7}})
    seen.push_back(point);
  EXPECT_EQ(seen, (std::vector<Box<2>::Point>{{1, 5}, {1, 6}, {2, 5}, {2, 6}}));
  for (const Box<2>::Point& point : Box<2>{{1, 5}, {3, 5}})
    FAIL() << point[0];
}

TEST(BoxTest, ExtentsCountAndKeysAgree) {
  constexpr Box<4> box{{0, 1, 2, 3}, {2, 4, 3, 7}};
  static_assert(box.count() == 2 * 3 * 1 * 4 && !box.empty());
  EXPECT_EQ(box.extents(), (Box<4>::Point{2, 3, 1, 4}));
  EXPECT_EQ(box[3], (Range{3, 7}));
  std::int64_t position = 0;
  for (const Box<4>::Point& point : box) {
    EXPECT_EQ(box.key_at(position++), point);
    EXPECT_TRUE(box.contains(point));
  }
  EXPECT_EQ(position, box.count());
  EXPECT_FALSE(box.contains({0, 1, 2, 7}));
}

TEST(BlockedTest, TilesCoverEveryPointOfABoxOnce) {
  const Blocked<3> blocked({{2, -3, 0}, {9, 2, 4}}, {3, 2, 4});
  std::vector<int> visits(7 * 5 * 4);
  for (std::int64_t index = 0; index < blocked.count(); ++index) {
    const Tile<3> tile = blocked.tile(index);
    for (const auto& [i, j, k] : tile)
      ++visits[static_cast<std::size_t>(((i - 2) * 5 + j + 3) * 4 + k)];
  }
  for (const int count : visits)
    EXPECT_EQ(count, 1);
}

TEST(BlockedTest, TheLastDimensionIsFastest) {
  const Blocked<2> blocked({{0, 0}, {4, 6}}, {2, 3});
  EXPECT_EQ(blocked.count(), 4);
  EXPECT_EQ(blocked.tile(1)[0].lo, 0);
  EXPECT_EQ(blocked.tile(1)[1].lo, 3);
  EXPECT_EQ(blocked.tile(2)[0].lo, 2);
}

TEST(BlockedTest, ATileSizeOfZeroIsTheWholeRange) {
  const Blocked<1> blocked({{3}, {10}}, {0});
  EXPECT_EQ(blocked.count(), 1);
  EXPECT_EQ(blocked.tile(0)[0].hi, 10);
}

TEST(BlockedTest, AnEmptyBoxHasNoTiles) {
  EXPECT_EQ(Blocked<2>({{0, 6}, {4, 6}}, {2, 3}).count(), 0);
}

}  // namespace
}  // namespace sorrel
