#include "tools/sorrel/demo/busy_picture.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace sorrel::tool {
namespace {

const std::vector<BusySpan> spans = {
    {.begin_ns = 100, .end_ns = 150, .rank = 0, .thread = 7},
    {.begin_ns = 150, .end_ns = 220, .rank = 1, .thread = 7},
    {.begin_ns = 110, .end_ns = 115, .rank = 2, .thread = 5},
};

TEST(BusyPicture, ThreadsAreInOrderOfTheirFirstComputation) {
  EXPECT_EQ(threads_of(spans), (std::vector<int>{7, 5}));
}

TEST(BusyPicture, CellsHaveTheShareAndTheRankThatComputedMost) {
  const auto cells = busy_cells(spans, threads_of(spans), 100, 100, 2);
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_DOUBLE_EQ(cells[0][0].share, 1.0);
  EXPECT_EQ(cells[0][0].rank, 0);  // 50 of each: the first
  EXPECT_DOUBLE_EQ(cells[0][1].share, 0.2);
  EXPECT_EQ(cells[0][1].rank, 1);
  EXPECT_DOUBLE_EQ(cells[1][0].share, 0.05);
  EXPECT_EQ(cells[1][0].rank, 2);
  EXPECT_EQ(cells[1][1].rank, -1);
}

TEST(BusyPicture, WhatLiesOutsideIsCut) {
  const auto cells = busy_cells(spans, threads_of(spans), 140, 20, 2);
  EXPECT_DOUBLE_EQ(cells[0][0].share, 1.0);
  EXPECT_DOUBLE_EQ(cells[0][1].share, 1.0);
  EXPECT_DOUBLE_EQ(cells[1][0].share, 0.0);
}

TEST(BusyPicture, RowsArePlainWithoutColours) {
  const std::vector<BusyCell> row = {{1.0, 0}, {0.5, 1}, {0.01, 1}, {0, -1}};
  EXPECT_EQ(row_text(row, false), "#:. ");
  const std::string coloured = row_text(row, true);
  EXPECT_NE(coloured.find("█"), std::string::npos);
  EXPECT_NE(coloured.find("▁"), std::string::npos);
  EXPECT_EQ(coloured.back(), ' ');
}

}  // namespace
}  // namespace sorrel::tool
