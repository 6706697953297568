#include "base/check.hpp"

#include <gtest/gtest.h>

namespace sorrel {
namespace {

TEST(CheckTest, AFailedCheckNamesPlaceConditionAndValues) {
  const int rank = 7;
  EXPECT_DEATH(SORREL_CHECK(rank < 4, "rank %d of %d", rank, 4),
               "check_test.cpp:[0-9]+: check failed: rank < 4; rank 7 of 4");
}

TEST(CheckTest, AMessageIsNotNeeded) {
  EXPECT_DEATH(SORREL_CHECK(1 + 1 == 3), "check failed: 1 \\+ 1 == 3");
}

TEST(CheckTest, AKeptPromiseCostsNothingButItsCondition) {
  int evaluation_count = 0;
  SORREL_CHECK(++evaluation_count == 1, "%d", evaluation_count);
  EXPECT_EQ(evaluation_count, 1);
}

TEST(CheckTest, AnAssertBelowItsLevelIsNotEvaluated) {
  int evaluation_count = 0;
  SORREL_AUDIT(++evaluation_count > 0);
  EXPECT_EQ(evaluation_count, SORREL_ASSERT_LEVEL >= 2 ? 1 : 0);
}

}  // namespace
}  // namespace sorrel
