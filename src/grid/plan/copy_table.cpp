#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <sorrel/grid/machine.hpp>

#include "base/check.hpp"

namespace sorrel::grid {
namespace {

// Distance of two sizes in octaves. Size 0 stands for "beyond all others".
double octaves(std::int64_t left, std::int64_t right) {
  const auto size = [](std::int64_t bytes) {
    return bytes == 0 ? 0x1p50 : static_cast<double>(bytes);
  };
  return std::abs(std::log2(size(left) / size(right)));
}

// The rate measured under the conditions nearest to these, among those with this very run length.
const CopyRate& nearest(const std::vector<CopyRate>& rates,
                        std::int64_t run_bytes,
                        std::int64_t stride_bytes,
                        std::int64_t set_bytes) {
  const CopyRate* best = nullptr;
  double best_distance = std::numeric_limits<double>::infinity();
  for (const CopyRate& rate : rates) {
    if (rate.run_bytes != run_bytes) continue;
    // In or out of a cache matters far more than the stride.
    const double distance =
        16 * octaves(rate.set_bytes, set_bytes) + octaves(rate.stride_bytes, stride_bytes);
    if (distance >= best_distance) continue;
    best = &rate;
    best_distance = distance;
  }
  SORREL_CHECK(best != nullptr, "no rate for runs of %lld bytes",
               static_cast<long long>(run_bytes));
  return *best;
}

struct Bracket {
  std::int64_t below;
  std::int64_t above;
};

// The run lengths of the table on both sides of this one; beyond its ends, the end.
Bracket bracket_of(const std::vector<CopyRate>& rates, std::int64_t run_bytes) {
  std::int64_t below = 0;
  std::int64_t above = std::numeric_limits<std::int64_t>::max();
  for (const CopyRate& rate : rates) {
    if (rate.run_bytes <= run_bytes) below = std::max(below, rate.run_bytes);
    if (rate.run_bytes >= run_bytes) above = std::min(above, rate.run_bytes);
  }
  if (below == 0) below = above;
  if (above == std::numeric_limits<std::int64_t>::max()) above = below;
  return {.below = below, .above = above};
}

}  // namespace

double CopyTable::seconds_per_byte(std::int64_t run_bytes,
                                   std::int64_t stride_bytes,
                                   std::int64_t set_bytes) const {
  SORREL_CHECK(!rates.empty() && run_bytes > 0);
  const Bracket bracket = bracket_of(rates, run_bytes);
  const double below = 1 / nearest(rates, bracket.below, stride_bytes, set_bytes).bytes_per_second;
  if (bracket.above == bracket.below) return below;
  const double above = 1 / nearest(rates, bracket.above, stride_bytes, set_bytes).bytes_per_second;
  const double way = octaves(run_bytes, bracket.below) / octaves(bracket.above, bracket.below);
  return below + way * (above - below);
}

}  // namespace sorrel::grid
