#include "sorrel/range.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <ranges>
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

static_assert(std::ranges::random_access_range<Range> && std::ranges::view<Range>);
static_assert(std::ranges::random_access_range<Box<3>> && std::ranges::view<Box<3>>);
static_assert(std::ranges::sized_range<BasicRange<short>> &&
              std::ranges::borrowed_range<BasicRange<short>>);

TEST(RangeTest, IntegersAreReachedByTheirPosition) {
  const Range range{-5, 100};
  EXPECT_EQ(range.begin()[7], 2);
  EXPECT_EQ(range.end() - range.begin(), 105);
  EXPECT_EQ(*(range.end() - 1), 99);
  EXPECT_LT(range.begin(), range.end());
  EXPECT_EQ(*std::ranges::lower_bound(range, 42), 42);
  std::vector<std::int64_t> even;
  for (const std::int64_t i : Range{0, 6} | std::views::reverse)
    even.push_back(i);
  EXPECT_EQ(even, (std::vector<std::int64_t>{5, 4, 3, 2, 1, 0}));
}

TEST(RangeTest, AnyTypeOfIntegersHasItsWholeRange) {
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ((BasicRange<std::uint64_t>{last - 3, last}.size()), 3);
  EXPECT_EQ((BasicRange<signed char>{-128, 127}.size()), 255);
  EXPECT_EQ((BasicRange<int>{std::numeric_limits<int>::min(), 0}.size()), std::int64_t{1} << 31);
}

TEST(BoxTest, PointsAreReachedByTheirPosition) {
  const Box<3> box{{0, 1, 2}, {2, 4, 7}};
  for (std::int64_t position = 0; position < box.count(); ++position) {
    EXPECT_EQ(box.begin()[position], box.key_at(position));
    EXPECT_EQ(*(box.end() - (box.count() - position)), box.key_at(position));
  }
  auto back = box.end();
  for (std::int64_t position = box.count(); position-- > 0;)
    EXPECT_EQ(*--back, box.key_at(position));
  EXPECT_EQ(back, box.begin());
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
    const Box<3> tile = blocked.tile(index);
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
