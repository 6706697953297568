#include "runtime/rank_memory.hpp"

#include <gtest/gtest.h>

namespace sorrel::runtime {
namespace {

TEST(RankMemoryTest, RanksTogetherKeepAQuarterOfTheMemory) {
  constexpr std::size_t gib = std::size_t{1} << 30;
  EXPECT_EQ(kept_bytes_of_rank(16 * gib, 1), 4 * gib);
  EXPECT_EQ(kept_bytes_of_rank(16 * gib, 4096), std::size_t{1} << 20);
}

TEST(RankMemoryTest, MemoryThatLargePagesMayTakeIsBounded) {
  constexpr std::size_t gib = std::size_t{1} << 30;
  EXPECT_EQ(unused_bytes_of_rank(16 * gib, 512), std::size_t{2} << 20);
  EXPECT_EQ(static_bytes_of_rank(16 * gib, 4), 2 * gib);
}

}  // namespace
}  // namespace sorrel::runtime
