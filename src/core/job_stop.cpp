#include "core/job_stop.hpp"

#include <algorithm>
#include <numeric>

namespace sorrel::core {

bool JobStop::agree(bool own) {
  return std::ranges::all_of(exchange(own ? 1 : 0), [](std::uint64_t each) { return each != 0; });
}

std::uint64_t JobStop::sum(std::uint64_t own) {
  const auto all = exchange(own);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

}  // namespace sorrel::core
