#include "base/prng.hpp"

#include <array>
#include <gtest/gtest.h>

namespace sorrel {
namespace {

TEST(PrngTest, GivesThePublishedSequence) {
  // SplitMix64 with seed 1234567, from the reference program of its authors.
  Prng prng(1234567);
  EXPECT_EQ(prng.next(), 6457827717110365317U);
  EXPECT_EQ(prng.next(), 3203168211198807973U);
  EXPECT_EQ(prng.next(), 9817491932198370423U);
}

TEST(PrngTest, ASeedDeterminesTheSequence) {
  Prng first(42);
  Prng second(42);
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(first.next(), second.next());
}

TEST(PrngTest, StaysBelowItsBoundAndReachesEveryValue) {
  Prng prng(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 7000; ++i)
    ++counts.at(prng.below(counts.size()));
  for (const int count : counts)
    EXPECT_GT(count, 800);
}

TEST(PrngTest, ABoundOfOneGivesZero) {
  Prng prng(9);
  EXPECT_EQ(prng.below(1), 0U);
}

}  // namespace
}  // namespace sorrel
