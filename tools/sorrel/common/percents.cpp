#include "tools/sorrel/common/percents.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace sorrel::tool {

std::vector<std::int64_t> percents_of(const std::vector<std::int64_t>& parts, std::int64_t scale) {
  const std::int64_t unit_count = 100 * scale;
  std::vector<std::int64_t> units(parts.size(), 0);
  double sum = 0;
  for (const std::int64_t part : parts)
    sum += static_cast<double>(part);
  if (sum <= 0) return units;
  std::vector<double> rests(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = static_cast<double>(parts[i]) / sum * static_cast<double>(unit_count);
    units[i] = static_cast<std::int64_t>(exact);
    rests[i] = exact - static_cast<double>(units[i]);
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return rests[i]; });
  const std::int64_t given = std::accumulate(units.begin(), units.end(), std::int64_t{0});
  for (std::int64_t i = 0; i < unit_count - given; ++i)
    ++units[order[static_cast<std::size_t>(i) % order.size()]];
  SORREL_ASSERT(std::accumulate(units.begin(), units.end(), std::int64_t{0}) == unit_count,
                "shares of %zu parts that are not all", parts.size());
  return units;
}

}  // namespace sorrel::tool
