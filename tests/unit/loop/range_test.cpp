#include "sorrel/range.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

namespace sorrel {
namespace {

TEST(BlockedTest, TilesCoverEveryPointOfABoxOnce) {
  const Blocked<3> blocked({{{2, 9}, {-3, 2}, {0, 4}}}, {3, 2, 4});
  std::vector<int> visits(7 * 5 * 4);
  for (std::int64_t index = 0; index < blocked.count(); ++index) {
    const Tile<3> tile = blocked.tile(index);
    for (std::int64_t i = tile[0].begin; i < tile[0].end; ++i)
      for (std::int64_t j = tile[1].begin; j < tile[1].end; ++j)
        for (std::int64_t k = tile[2].begin; k < tile[2].end; ++k)
          ++visits[static_cast<std::size_t>(((i - 2) * 5 + j + 3) * 4 + k)];
  }
  for (const int count : visits)
    EXPECT_EQ(count, 1);
}

TEST(BlockedTest, TheLastDimensionIsFastest) {
  const Blocked<2> blocked({{{0, 4}, {0, 6}}}, {2, 3});
  EXPECT_EQ(blocked.count(), 4);
  EXPECT_EQ(blocked.tile(1)[0].begin, 0);
  EXPECT_EQ(blocked.tile(1)[1].begin, 3);
  EXPECT_EQ(blocked.tile(2)[0].begin, 2);
}

TEST(BlockedTest, ATileSizeOfZeroIsTheWholeRange) {
  const Blocked<1> blocked({{{3, 10}}}, {0});
  EXPECT_EQ(blocked.count(), 1);
  EXPECT_EQ(blocked.tile(0)[0].end, 10);
}

TEST(BlockedTest, AnEmptyBoxHasNoTiles) {
  EXPECT_EQ(Blocked<2>({{{0, 4}, {6, 6}}}, {2, 3}).count(), 0);
}

}  // namespace
}  // namespace sorrel
