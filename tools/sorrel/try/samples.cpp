#include "tools/sorrel/try/samples.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/check.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t outliers_need = 4;
/// Normal deviations, of which the median absolute deviation is 0.6745.
constexpr double outlier_deviations = 5;
constexpr double deviation_of_mad = 1 / 0.6745;
/// A run that is nearer to the median than this is no outlier, however steady the runs are.
constexpr double outlier_share_min = 0.05;

double median_of(std::vector<double> values) {
  SORREL_ASSERT(!values.empty(), "a median of no values");
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::size_t outliers_in(const std::vector<double>& seconds) {
  if (seconds.size() < outliers_need) return 0;
  const double median = median_of(seconds);
  std::vector<double> distances;
  for (const double value : seconds)
    distances.push_back(std::abs(value - median));
  const double limit = std::max(outlier_deviations * deviation_of_mad * median_of(distances),
                                outlier_share_min * median);
  return static_cast<std::size_t>(
      std::ranges::count_if(distances, [&](double distance) { return distance > limit; }));
}

/// The square of the relative standard error of the mean.
double relative_variance(const Summary& summary) {
  SORREL_ASSERT(summary.count != 0, "a variance of no values");
  const double share = summary.deviation / summary.mean;
  return share * share / static_cast<double>(summary.count);
}

}  // namespace

Summary summary_of(const std::vector<double>& seconds) {
  Summary summary{.count = seconds.size()};
  if (seconds.empty()) return summary;
  for (const double value : seconds)
    summary.mean += value / static_cast<double>(seconds.size());
  double squares = 0;
  for (const double value : seconds)
    squares += (value - summary.mean) * (value - summary.mean);
  if (seconds.size() > 1)
    summary.deviation = std::sqrt(squares / static_cast<double>(seconds.size() - 1));
  summary.least = *std::ranges::min_element(seconds);
  summary.most = *std::ranges::max_element(seconds);
  summary.outliers = outliers_in(seconds);
  return summary;
}

double student_99(double degrees) {
  // By degrees of freedom from 1 on; beyond, Cornish and Fisher's expansion is exact to 0.1 %.
  constexpr double table[] = {63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499,
                              3.355,  3.250, 3.169, 3.106, 3.055, 3.012, 2.977};
  if (degrees < 1) return table[0];
  const auto index = static_cast<std::size_t>(degrees) - 1;
  if (index < std::size(table)) return table[index];
  constexpr double normal = 2.5758;
  return normal + (normal * normal * normal + normal) / (4 * degrees) +
         (5 * std::pow(normal, 5) + 16 * std::pow(normal, 3) + 3 * normal) /
             (96 * degrees * degrees);
}

RatioEstimate ratio_of(const Summary& over, const Summary& under) {
  RatioEstimate ratio{
      .value = over.mean / under.mean, .low = 0, .high = std::numeric_limits<double>::infinity()};
  if (over.count < 2 || under.count < 2) return ratio;
  const double one = relative_variance(over);
  const double two = relative_variance(under);
  if (one + two == 0) {
    ratio.low = ratio.high = ratio.value;
    return ratio;
  }
  const double degrees = (one + two) * (one + two) /
                         (one * one / static_cast<double>(over.count - 1) +
                          two * two / static_cast<double>(under.count - 1));
  const double width = student_99(degrees) * std::sqrt(one + two);
  ratio.low = ratio.value * std::exp(-width);
  ratio.high = ratio.value * std::exp(width);
  return ratio;
}

}  // namespace sorrel::tool
