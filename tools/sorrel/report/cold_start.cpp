#include "tools/sorrel/report/cold_start.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace sorrel::tool {

namespace {

/// Fewer give no median.
constexpr std::size_t count_min = 20;

/// Computing between two calls, by their sites.
struct Spans {
  std::vector<std::int64_t> warm;  ///< after a call without a wait
  std::vector<std::int64_t> cold;
};

std::int64_t median_of(std::vector<std::int64_t>& all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

}  // namespace

std::int64_t cold_start_ns(const JobTrace& job) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Spans> spans;
  for (const TracedRank& rank : job.ranks) {
    std::vector<bool> has_waited(rank.calls.size());
    for (const Wait& wait : rank.waits) {
      if (wait.call != no_index) has_waited[wait.call] = true;
    }
    for (std::size_t next = 1; next < rank.calls.size(); ++next) {
      const Call& before = rank.calls[next - 1];
      Spans& between = spans[{before.site, rank.calls[next].site}];
      (has_waited[next - 1] ? between.cold : between.warm)
          .push_back(rank.calls[next].time.begin - before.time.end);
    }
  }
  std::int64_t sum = 0;
  std::int64_t weight = 0;
  for (auto& [sites, between] : spans) {
    const auto rarer = std::min(between.warm.size(), between.cold.size());
    if (rarer < count_min) continue;
    sum += (median_of(between.cold) - median_of(between.warm)) * static_cast<std::int64_t>(rarer);
    weight += static_cast<std::int64_t>(rarer);
  }
  return weight == 0 ? 0 : std::max<std::int64_t>(sum / weight, 0);
}

}  // namespace sorrel::tool
