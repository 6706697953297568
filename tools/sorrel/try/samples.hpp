//! Samples - times of repeated runs: their mean and spread, runs that took far longer, and how sure
//! the ratio of two means is. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace sorrel::tool {

struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double deviation = 0;  ///< standard deviation of one run; 0 with fewer than two
  double least = 0;
  double most = 0;
  std::size_t outliers = 0;  ///< far from the median of at least four runs
};

[[nodiscard]] Summary summary_of(const std::vector<double>& seconds);

/// The ratio of two means, and the interval that contains the true ratio in 99 % of such
/// measurements (Welch's). With fewer than two runs of either the interval has no bounds.
struct RatioEstimate {
  double value = 1;
  double low = 0;
  double high = 0;  ///< infinite: no bound
};

[[nodiscard]] RatioEstimate ratio_of(const Summary& over, const Summary& under);

/// Student's t for a two-sided interval of 99 % with that many degrees of freedom.
[[nodiscard]] double student_99(double degrees);

}  // namespace sorrel::tool
