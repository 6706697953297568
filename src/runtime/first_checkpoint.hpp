//! make_first_checkpoint - a job that may be started again is saved when its ranks leave MPI_Init.
#pragma once

#include "mpi/match/rank_state.hpp"

namespace sorrel::runtime {

/// On the rank's own stack, at the end of MPI_Init: a collective of all ranks in a job that may be
/// started again (--restarts), and nothing in others. May suspend; the rank may return in another
/// process, and nothing of this one is used afterwards.
void make_first_checkpoint(mpi::RankState& rank);

/// A rank begins a session, which waits for no other rank: from now on a job that may be started
/// again, and has no checkpoint, does not begin anew.
void note_begin_of_session();

}  // namespace sorrel::runtime
