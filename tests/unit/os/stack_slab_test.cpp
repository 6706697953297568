#include "os/stack_slab.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sorrel::os {
namespace {

const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

std::byte* bottom_of(const StackSlab& slab, std::size_t index) {
  return static_cast<std::byte*>(slab.bottom(index));
}

TEST(StackSlabTest, EveryByteOfEveryStackIsUsable) {
  StackSlab slab(5, 20'000);
  ASSERT_TRUE(slab.is_valid());
  EXPECT_GE(slab.stack_bytes(), 20'000U);
  EXPECT_EQ(slab.stack_bytes() % page_bytes, 0U);
  for (std::size_t i = 0; i < 5; ++i)
    std::memset(slab.bottom(i), 0x5a, slab.stack_bytes());
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_EQ(bottom_of(slab, i)[slab.stack_bytes() - 1], std::byte{0x5a});
}

TEST(StackSlabTest, TheByteBelowAStackFaults) {
  StackSlab slab(3, 16'384);
  ASSERT_TRUE(slab.is_valid());
  for (std::size_t i = 0; i < 3; ++i) {
    volatile std::byte* below = bottom_of(slab, i) - 1;
    EXPECT_DEATH(*below = std::byte{1}, "");
  }
}

/// Lowest address of the guard below a stack.
std::byte* guard_of(const StackSlab& slab, std::size_t index) {
  std::byte* page = bottom_of(slab, index);
  for (;;) {
    const auto below = slab.place_of(page - page_bytes);
    if (!below.has_value() || !below->in_guard) return page;
    page -= page_bytes;
  }
}

TEST(StackSlabTest, EveryPageOfAGuardFaults) {
  StackSlab slab(2, 16'384);
  ASSERT_TRUE(slab.is_valid());
  volatile std::byte* lowest = guard_of(slab, 1);
  ASSERT_LT(lowest, bottom_of(slab, 1));
  EXPECT_DEATH(*lowest = std::byte{1}, "");
  EXPECT_DEATH(*(bottom_of(slab, 1) - page_bytes) = std::byte{1}, "");
  // Just below it ends the stack of the neighbour.
  *(lowest - 1) = std::byte{1};
}

TEST(StackSlabTest, TellsWhoseStackAnAddressIsOn) {
  StackSlab slab(4, 16'384);
  ASSERT_TRUE(slab.is_valid());
  for (std::size_t i = 0; i < 4; ++i) {
    for (const std::size_t offset : {std::size_t{0}, slab.stack_bytes() - 1}) {
      const auto place = slab.place_of(bottom_of(slab, i) + offset);
      ASSERT_TRUE(place.has_value());
      EXPECT_EQ(place->index, i);
      EXPECT_FALSE(place->in_guard);
    }
  }
}

TEST(StackSlabTest, TellsWhoseGuardAnAddressIsIn) {
  StackSlab slab(4, 16'384);
  ASSERT_TRUE(slab.is_valid());
  for (std::size_t i = 0; i < 4; ++i) {
    for (const std::size_t below : {std::size_t{1}, page_bytes}) {
      const auto place = slab.place_of(bottom_of(slab, i) - below);
      ASSERT_TRUE(place.has_value());
      EXPECT_EQ(place->index, i);
      EXPECT_TRUE(place->in_guard);
    }
  }
}

TEST(StackSlabTest, KnowsNothingOfOtherAddresses) {
  StackSlab slab(2, 16'384);
  ASSERT_TRUE(slab.is_valid());
  int elsewhere = 0;
  EXPECT_FALSE(slab.place_of(&elsewhere).has_value());
  EXPECT_FALSE(slab.place_of(nullptr).has_value());
  EXPECT_FALSE(slab.place_of(bottom_of(slab, 1) + slab.stack_bytes()).has_value());
  EXPECT_FALSE(slab.place_of(guard_of(slab, 0) - 1).has_value());
}

TEST(StackSlabTest, MoreThanTheAddressSpaceIsInvalid) {
  const StackSlab slab(std::size_t{1} << 20, std::size_t{1} << 40);
  EXPECT_FALSE(slab.is_valid());
  EXPECT_FALSE(slab.place_of(&slab).has_value());
}

}  // namespace
}  // namespace sorrel::os
