//! A rank that polls memory of a window, with a limit of time or until a request is complete: it
//! calls nothing else that lets the ranks of its worker run, for one of which it may wait.
#pragma once

#include <cstdint>

#include "mpi/match/rank_state.hpp"

namespace sorrel::abi {

/// Whether the caller may let other ranks of its worker run: it is the rank, and neither in a
/// callback of the library nor in a handler.
[[nodiscard]] bool may_give_way(const mpi::RankState& self);

/// The rank, which has windows, has read a clock: `now_ns`. After a millisecond in which it has
/// done little else, other ranks of the worker run first. May suspend.
void note_clock_read(mpi::RankState& self, std::int64_t now_ns);

/// note_clock_read() under a seed, where no time passes in a spin: after a number of calls.
void note_seeded_clock_read(mpi::RankState& self);

/// From here on also for the C library's clocks: the process has a window.
void watch_clocks();

}  // namespace sorrel::abi
