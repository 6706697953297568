#include "tools/sorrel/try/samples.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace sorrel::tool {
namespace {

TEST(Samples, SummaryHasMeanAndSpread) {
  const Summary summary = summary_of({1, 2, 3, 4});
  EXPECT_EQ(summary.count, 4U);
  EXPECT_DOUBLE_EQ(summary.mean, 2.5);
  EXPECT_NEAR(summary.deviation, std::sqrt(5.0 / 3), 1e-12);
  EXPECT_EQ(summary.least, 1);
  EXPECT_EQ(summary.most, 4);
  EXPECT_EQ(summary.outliers, 0U);
}

TEST(Samples, ARunFarFromTheMedianIsAnOutlier) {
  EXPECT_EQ(summary_of({1.00, 1.01, 0.99, 1.00, 1.9}).outliers, 1U);
  // As far, but of runs that are no steadier.
  EXPECT_EQ(summary_of({1.0, 1.5, 0.7, 1.2, 1.9}).outliers, 0U);
  // Steady to the last digit: 2 % are no outlier.
  EXPECT_EQ(summary_of({1, 1, 1, 1, 1.02}).outliers, 0U);
}

TEST(Samples, StudentsValuesAreThoseOfTables) {
  EXPECT_NEAR(student_99(1), 63.657, 1e-3);
  EXPECT_NEAR(student_99(4.9), 4.604, 1e-3);
  EXPECT_NEAR(student_99(20), 2.845, 5e-3);
  EXPECT_NEAR(student_99(60), 2.660, 3e-3);
}

TEST(Samples, OneRunGivesNoInterval) {
  const RatioEstimate ratio = ratio_of(summary_of({2}), summary_of({1, 1.1}));
  EXPECT_NEAR(ratio.value, 2 / 1.05, 1e-12);
  EXPECT_EQ(ratio.low, 0);
  EXPECT_TRUE(std::isinf(ratio.high));
}

TEST(Samples, TheIntervalContainsTheTrueRatioInAbout99Percent) {
  std::mt19937 random(7);
  std::normal_distribution<double> slow(2, 0.2);
  std::normal_distribution<double> fast(1, 0.05);
  int inside = 0;
  constexpr int rounds = 4000;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> over;
    std::vector<double> under;
    for (int run = 0; run < 5; ++run) {
      over.push_back(slow(random));
      under.push_back(fast(random));
    }
    const RatioEstimate ratio = ratio_of(summary_of(over), summary_of(under));
    inside += ratio.low <= 2 && 2 <= ratio.high ? 1 : 0;
  }
  EXPECT_GT(inside, rounds * 98 / 100);
  EXPECT_LT(inside, rounds);
}

}  // namespace
}  // namespace sorrel::tool
