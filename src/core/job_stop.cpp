#include "core/job_stop.hpp"

#include <algorithm>

namespace sorrel::core {

bool JobStop::agree(bool own) {
  return std::ranges::all_of(exchange(own ? 1 : 0), [](std::uint64_t each) { return each != 0; });
}

}  // namespace sorrel::core
