#include "tools/sorrel/common/percents.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace sorrel::tool {
namespace {

using Parts = std::vector<std::int64_t>;

TEST(PercentsTest, ThirdsAddUpToAHundred) {
  EXPECT_EQ(percents_of({1, 1, 1}), (Parts{34, 33, 33}));
  EXPECT_EQ(percents_of({1, 1, 1}, 10), (Parts{334, 333, 333}));
  EXPECT_EQ(percents_of({2, 1}), (Parts{67, 33}));
}

TEST(PercentsTest, WhatIsAllIsAHundred) {
  EXPECT_EQ(percents_of({7, 0, 0}), (Parts{100, 0, 0}));
  EXPECT_EQ(percents_of({0, 0}), (Parts{0, 0}));
}

TEST(PercentsTest, AnyPartsAddUpAndAreRoundedByLessThanOne) {
  std::mt19937_64 random(41);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  for (int round = 0; round < 2000; ++round) {
    Parts parts(1 + below(9));
    for (std::int64_t& part : parts)
      part = static_cast<std::int64_t>(below(std::uint64_t{1} << below(60)));
    parts[0] += 1;
    const Parts shares = percents_of(parts);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}), 100);
    const double whole = std::accumulate(parts.begin(), parts.end(), 0.0);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double exact = 100 * static_cast<double>(parts[i]) / whole;
      EXPECT_NEAR(static_cast<double>(shares[i]), exact, 1.0001);
    }
  }
}

}  // namespace
}  // namespace sorrel::tool
