//! A call that has had nothing to wait for, of a rank that may poll memory of a window.
#pragma once

#include <cstdint>

#include "mpi/match/rank_state.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::mpi {

/// Such a rank may call nothing else, and wait for a rank of its worker. Counts a call: whether
/// other ranks should run now, with windows after a number of these calls.
[[nodiscard]] inline bool count_idle_call(RankState& self) {
  constexpr std::int64_t calls_per_yield = 1000;
  // Each counts as a nanosecond in which the rank does nothing else.
  return self.window_count != 0 && ++self.clock_spin_ns % calls_per_yield == 0;
}

/// Counts a call, and lets other ranks run if they should. May suspend (it yields).
inline void note_idle_call(RankState& self) {
  if (count_idle_call(self)) [[unlikely]]
    make_progress(self);
}

}  // namespace sorrel::mpi
