//! LeftRank - what ranks that go on in other processes leave behind: their objects end, and the
//! communicators of the ranks that stay begin anew.
//!
//! While all workers of the job are stopped. No function of the program is called.
#pragma once

#include <span>

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

/// Ends all objects of a rank that goes. They have been saved (saved_rank.hpp), and the rank's
/// memory is still there.
void end_objects(RankState& rank);

/// The views of a rank that stays, of `moving` communicators (ProcessWorld::begin_move(), in
/// order): as after a restart, so that they agree with those of ranks that come.
void begin_anew(RankState& rank, std::span<CommShared* const> moving);

}  // namespace sorrel::mpi
