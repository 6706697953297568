#include "grid/plan/process_grids.hpp"

#include <algorithm>
#include <cstddef>

#include "base/divisors.hpp"

namespace sorrel::grid {
namespace {

// The maximum number of parts of a dimension.
int part_count_max(const Problem& problem, std::size_t dimension) {
  if (problem.is_uncut[dimension]) return 1;
  // The minimum number of grains in the smallest block.
  const std::int64_t grain = problem.extents[dimension] == 1 ? 1 : problem.grain;
  const std::int64_t grains_min = (problem.halo_width + grain - 1) / grain;
  const std::int64_t parts = problem.extents[dimension] / grain / grains_min;
  return static_cast<int>(std::clamp<std::int64_t>(parts, 1, rank_count_max));
}

}  // namespace

std::vector<ProcessGrid> process_grids(const Problem& problem, int rank_count) {
  std::vector<ProcessGrid> grids;
  for (const int first : divisors_of(rank_count)) {
    if (first > part_count_max(problem, 0)) break;
    const int rest = rank_count / first;
    for (const int second : divisors_of(rest)) {
      if (second > part_count_max(problem, 1)) break;
      const int third = rest / second;
      if (third <= part_count_max(problem, 2)) grids.push_back({first, second, third});
    }
  }
  return grids;
}

bool is_allowed(const Problem& problem, const ProcessGrid& grid) {
  for (std::size_t d = 0; d < grid.size(); ++d)
    if (grid[d] > part_count_max(problem, d)) return false;
  return true;
}

int usable_ranks(const Problem& problem, int rank_count) {
  std::int64_t most = 1;
  for (std::size_t d = 0; d < dimension_count_max; ++d)
    most = std::min<std::int64_t>(most * part_count_max(problem, d), rank_count);
  for (int count = static_cast<int>(most); count > 1; --count)
    if (!process_grids(problem, count).empty()) return count;
  return 1;
}

}  // namespace sorrel::grid
