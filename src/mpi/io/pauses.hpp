//! Pauses - waiting for something that wakes no fiber: looks, and sleeps between two looks for a
//! time that grows. Owner's worker, in a fiber of the rank.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

struct Pauses {
  std::int64_t first_ns;
  std::int64_t last_ns;
  /// The next pause is longer by the pause over this: 1 doubles it.
  std::int64_t growth_divisor;
};

/// Returns when is_over() is true. Suspends between two calls of it.
template <class IsOver>
void sleep_until(RankState& self, const Pauses& pauses, IsOver&& is_over) {
  for (std::int64_t pause_ns = pauses.first_ns; !is_over();
       pause_ns = std::min(pause_ns + pause_ns / pauses.growth_divisor, pauses.last_ns))
    self.worker->sleep(pause_ns);
}

}  // namespace sorrel::mpi
