#include "base/divisors.hpp"

#include <gtest/gtest.h>

namespace sorrel {
namespace {

TEST(Divisors, AreAscendingAndComplete) {
  EXPECT_EQ(divisors_of(1), (std::vector<int>{1}));
  EXPECT_EQ(divisors_of(36), (std::vector<int>{1, 2, 3, 4, 6, 9, 12, 18, 36}));
  EXPECT_EQ(divisors_of(999983), (std::vector<int>{1, 999983}));
}

}  // namespace
}  // namespace sorrel
