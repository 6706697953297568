#include "os/stack_slab.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <sys/resource.h>
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
    const auto below = slab.location_of(page - page_bytes);
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
  // The neighbour's stack ends directly below.
  *(lowest - 1) = std::byte{1};
}

TEST(StackSlabTest, TellsWhoseStackAnAddressIsOn) {
  StackSlab slab(4, 16'384);
  ASSERT_TRUE(slab.is_valid());
  for (std::size_t i = 0; i < 4; ++i) {
    for (const std::size_t offset : {std::size_t{0}, slab.stack_bytes() - 1}) {
      const auto place = slab.location_of(bottom_of(slab, i) + offset);
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
      const auto place = slab.location_of(bottom_of(slab, i) - below);
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
  EXPECT_FALSE(slab.location_of(&elsewhere).has_value());
  EXPECT_FALSE(slab.location_of(nullptr).has_value());
  const std::byte* end = bottom_of(slab, 1) + slab.stack_bytes() + slab.guard_bytes();
  EXPECT_TRUE(slab.location_of(end - 1)->in_guard);
  EXPECT_FALSE(slab.location_of(end).has_value());
  EXPECT_FALSE(slab.location_of(guard_of(slab, 0) - 1).has_value());
}

TEST(StackSlabTest, AGuardIsAsLargeAsItsStackUpTo256KiB) {
  constexpr std::size_t kib = 1024;
  for (const auto& [stack_kib, guard_kib] : {std::pair<std::size_t, std::size_t>{16, 64},
                                             {64, 64},
                                             {128, 128},
                                             {512, 256},
                                             {1024, 256},
                                             {8192, 256}}) {
    StackSlab slab(2, stack_kib * kib);
    ASSERT_TRUE(slab.is_valid());
    EXPECT_EQ(slab.guard_bytes(), guard_kib * kib) << stack_kib;
    EXPECT_EQ(bottom_of(slab, 1) - guard_of(slab, 1), static_cast<long>(guard_kib * kib));
    EXPECT_EQ(bottom_of(slab, 1) - bottom_of(slab, 0),
              static_cast<long>(StackSlab::pitch_of(stack_kib * kib)));
  }
}

TEST(StackSlabTest, GuardsCanBeInstalledLater) {
  StackSlab slab(2, 16'384, StackSlab::Guards::later);
  ASSERT_TRUE(slab.is_valid());
  volatile std::byte* below = bottom_of(slab, 1) - 1;
  *below = std::byte{1};
  EXPECT_TRUE(slab.install_guard(1));
  EXPECT_DEATH(*below = std::byte{1}, "");
}

TEST(StackSlabTest, TheByteAboveTheLastStackFaults) {
  StackSlab slab(2, std::size_t{1} << 20);
  ASSERT_TRUE(slab.is_valid());
  volatile std::byte* above = bottom_of(slab, 1) + slab.stack_bytes();
  EXPECT_DEATH(*above = std::byte{1}, "");
  EXPECT_DEATH(*(above + slab.guard_bytes() - 1) = std::byte{1}, "");
}

TEST(StackSlabTest, TheFirstPagesOfStacksDifferInTheirPlaceInThePageTable) {
  for (const std::size_t stack_bytes : {std::size_t{1} << 20, std::size_t{8} << 20}) {
    StackSlab slab(64, stack_bytes, StackSlab::Guards::later);
    ASSERT_TRUE(slab.is_valid());
    EXPECT_GE(slab.usable_bytes(31), stack_bytes);
    std::set<std::uintptr_t> places;
    for (std::size_t i = 0; i < 64; ++i) {
      const auto top = reinterpret_cast<std::uintptr_t>(slab.bottom(i)) + slab.usable_bytes(i);
      places.insert((top - 1) / 4096 % 512);
    }
    EXPECT_EQ(places.size(), 64U);
  }
}

TEST(StackSlabTest, WithoutASizeTheSystemsLimitHolds) {
  const auto stack_bytes_under = [](rlim_t limit_bytes) {
    const rlimit limit{.rlim_cur = limit_bytes, .rlim_max = RLIM_INFINITY};
    if (setrlimit(RLIMIT_STACK, &limit) != 0) return std::size_t{0};
    return default_stack_bytes();
  };
  constexpr std::size_t mib = 1 << 20;
  rlimit before{};
  getrlimit(RLIMIT_STACK, &before);
  if (before.rlim_max != RLIM_INFINITY) GTEST_SKIP() << "ulimit -Hs is set";
  EXPECT_EQ(stack_bytes_under(32 * mib), 32 * mib);
  EXPECT_EQ(stack_bytes_under(16 << 10), mib);
  EXPECT_EQ(stack_bytes_under(RLIM_INFINITY), 8 * mib);
  setrlimit(RLIMIT_STACK, &before);
}

TEST(StackSlabTest, WithoutASizeStacksGiveWayWhereAddressesAreShort) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "needs more addresses than that";
#endif
  const auto reserve_in_a_gibibyte = [] {
    const rlimit limit{.rlim_cur = rlim_t{2} << 30, .rlim_max = rlim_t{2} << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    const StackSlab given(300, std::size_t{8} << 20);
    const StackSlab chosen(300, 0);
    _exit(!given.is_valid() && chosen.is_valid() && chosen.stack_bytes() >= std::size_t{1} << 20
              ? 0
              : 1);
  };
  EXPECT_EXIT(reserve_in_a_gibibyte(), testing::ExitedWithCode(0), "");
}

TEST(StackSlabTest, MoreThanTheAddressSpaceIsInvalid) {
  for (const auto& [count, bytes] : {std::pair{std::size_t{1} << 20, std::size_t{1} << 40},
                                     std::pair{std::size_t{1} << 30, std::size_t{1} << 50}}) {
    const StackSlab slab(count, bytes);
    EXPECT_FALSE(slab.is_valid());
    EXPECT_FALSE(slab.location_of(&slab).has_value());
  }
}

}  // namespace
}  // namespace sorrel::os
