#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include <sorrel/grid/machine.hpp>

#include "base/check.hpp"

namespace sorrel::grid {
namespace {

double octaves(std::int64_t left, std::int64_t right) {
  return std::log2(static_cast<double>(left) / static_cast<double>(right));
}

struct Bracket {
  std::int64_t below;
  std::int64_t above;
};

// The run lengths around this one among the rates of a set; beyond the ends, the end itself.
Bracket bracket_of(const std::vector<CopyRate>& rates,
                   std::int64_t set_bytes,
                   std::int64_t run_bytes) {
  std::int64_t below = 0;
  std::int64_t above = std::numeric_limits<std::int64_t>::max();
  for (const CopyRate& rate : rates) {
    if (rate.set_bytes != set_bytes) continue;
    if (rate.run_bytes <= run_bytes) below = std::max(below, rate.run_bytes);
    if (rate.run_bytes >= run_bytes) above = std::min(above, rate.run_bytes);
  }
  if (below == 0) below = above;
  if (above == std::numeric_limits<std::int64_t>::max()) above = below;
  return {.below = below, .above = above};
}

// For a run length and a set of the table: interpolates between the strides around this one by
// octaves; beyond the ends, the end itself.
double seconds_per_byte_of_run(const std::vector<CopyRate>& rates, const CopyRate& wanted) {
  const CopyRate* below = nullptr;
  const CopyRate* above = nullptr;
  for (const CopyRate& rate : rates) {
    if (rate.run_bytes != wanted.run_bytes || rate.set_bytes != wanted.set_bytes) continue;
    if (rate.stride_bytes <= wanted.stride_bytes &&
        (below == nullptr || rate.stride_bytes > below->stride_bytes))
      below = &rate;
    if (rate.stride_bytes >= wanted.stride_bytes &&
        (above == nullptr || rate.stride_bytes < above->stride_bytes))
      above = &rate;
  }
  if (below == nullptr) below = above;
  if (above == nullptr) above = below;
  SORREL_CHECK(below != nullptr, "no rate for runs of %lld bytes",
               static_cast<long long>(wanted.run_bytes));
  const double first = 1 / below->bytes_per_second;
  if (above->stride_bytes == below->stride_bytes) return first;
  const double way = octaves(wanted.stride_bytes, below->stride_bytes) /
                     octaves(above->stride_bytes, below->stride_bytes);
  return first + way * (1 / above->bytes_per_second - first);
}

// For a set of the table.
double seconds_per_byte_of_set(const std::vector<CopyRate>& rates, const CopyRate& wanted) {
  const Bracket bracket = bracket_of(rates, wanted.set_bytes, wanted.run_bytes);
  const auto seconds = [&](std::int64_t run_bytes) {
    CopyRate like = wanted;
    like.run_bytes = run_bytes;
    return seconds_per_byte_of_run(rates, like);
  };
  const double below = seconds(bracket.below);
  if (bracket.above == bracket.below) return below;
  const double way =
      octaves(wanted.run_bytes, bracket.below) / octaves(bracket.above, bracket.below);
  return below + way * (seconds(bracket.above) - below);
}

// Factor beyond the largest given set from which no cache holds any data: two octaves.
constexpr std::int64_t beyond_factor = 4;

// The sets of the table, ascending, by their position among sizes.
std::map<std::int64_t, std::int64_t> sets_of(const std::vector<CopyRate>& rates) {
  std::map<std::int64_t, std::int64_t> sets;
  std::int64_t last = 1;
  for (const CopyRate& rate : rates) {
    last = std::max(last, rate.set_bytes);
    if (rate.set_bytes > 0) sets[rate.set_bytes] = rate.set_bytes;
  }
  for (const CopyRate& rate : rates)
    if (rate.set_bytes == 0) sets[beyond_factor * last] = 0;
  return sets;
}

}  // namespace

double CopyTable::seconds_per_byte(std::int64_t run_bytes,
                                   std::int64_t stride_bytes,
                                   std::int64_t set_bytes) const {
  SORREL_CHECK(!rates.empty() && run_bytes > 0);
  const auto seconds = [&](std::int64_t of_set) {
    return seconds_per_byte_of_set(rates, {.run_bytes = run_bytes,
                                           .stride_bytes = stride_bytes,
                                           .set_bytes = of_set,
                                           .bytes_per_second = 0});
  };
  const auto sets = sets_of(rates);
  const auto above = set_bytes > 0 ? sets.lower_bound(set_bytes) : sets.end();
  if (above == sets.end()) return seconds(sets.rbegin()->second);
  if (above == sets.begin()) return seconds(above->second);
  const auto below = std::prev(above);
  const double way = octaves(set_bytes, below->first) / octaves(above->first, below->first);
  return seconds(below->second) + way * (seconds(above->second) - seconds(below->second));
}

}  // namespace sorrel::grid
