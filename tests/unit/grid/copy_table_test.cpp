#include <gtest/gtest.h>

#include <sorrel/grid/machine.hpp>

namespace sorrel::grid {
namespace {

CopyTable two_runs() {
  return {
      .rates = {{.run_bytes = 8, .stride_bytes = 64, .set_bytes = 0, .bytes_per_second = 1e8},
                {.run_bytes = 128, .stride_bytes = 256, .set_bytes = 0, .bytes_per_second = 1e9}}};
}

TEST(CopyTable, GivesBackWhatWasMeasured) {
  EXPECT_DOUBLE_EQ(two_runs().seconds_per_byte(8, 64, 0), 1e-8);
  EXPECT_DOUBLE_EQ(two_runs().seconds_per_byte(128, 256, 0), 1e-9);
}

TEST(CopyTable, LiesBetweenTheRunsOnBothSides) {
  // 32 is two of the four octaves from 8 to 128.
  EXPECT_DOUBLE_EQ(two_runs().seconds_per_byte(32, 64, 0), (1e-8 + 1e-9) / 2);
}

TEST(CopyTable, TakesItsEndsBeyondThem) {
  EXPECT_DOUBLE_EQ(two_runs().seconds_per_byte(1, 64, 0), 1e-8);
  EXPECT_DOUBLE_EQ(two_runs().seconds_per_byte(1 << 20, 64, 0), 1e-9);
}

TEST(CopyTable, LiesBetweenTheStridesOnBothSides) {
  CopyTable table;
  table.rates = {{.run_bytes = 8, .stride_bytes = 64, .set_bytes = 0, .bytes_per_second = 1e9},
                 {.run_bytes = 8, .stride_bytes = 4096, .set_bytes = 0, .bytes_per_second = 1e8}};
  EXPECT_DOUBLE_EQ(table.seconds_per_byte(8, 32, 0), 1e-9);
  EXPECT_DOUBLE_EQ(table.seconds_per_byte(8, 512, 0), (1e-9 + 1e-8) / 2);
  EXPECT_DOUBLE_EQ(table.seconds_per_byte(8, 8192, 0), 1e-8);
}

TEST(CopyTable, PrefersTheCacheOverTheStride) {
  CopyTable table;
  table.rates = {
      {.run_bytes = 8, .stride_bytes = 4096, .set_bytes = 1 << 16, .bytes_per_second = 1e9},
      {.run_bytes = 8, .stride_bytes = 64, .set_bytes = 0, .bytes_per_second = 1e8}};
  EXPECT_DOUBLE_EQ(table.seconds_per_byte(8, 64, 1 << 16), 1e-9);
  EXPECT_DOUBLE_EQ(table.seconds_per_byte(8, 4096, std::int64_t{1} << 40), 1e-8);
}

TEST(CopyTable, LiesBetweenTheSetsOnBothSides) {
  CopyTable table;
  table.rates = {
      {.run_bytes = 8, .stride_bytes = 64, .set_bytes = 1 << 20, .bytes_per_second = 1e9},
      {.run_bytes = 8, .stride_bytes = 64, .set_bytes = 0, .bytes_per_second = 1e8}};
  EXPECT_DOUBLE_EQ(table.seconds_per_byte(8, 64, 1), 1e-9);
  // Two octaves beyond, no cache holds any data.
  EXPECT_DOUBLE_EQ(table.seconds_per_byte(8, 64, 1 << 21), (1e-9 + 1e-8) / 2);
  EXPECT_DOUBLE_EQ(table.seconds_per_byte(8, 64, 1 << 22), 1e-8);
  EXPECT_DOUBLE_EQ(table.seconds_per_byte(8, 64, 0), 1e-8);
}

}  // namespace
}  // namespace sorrel::grid
