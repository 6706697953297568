//! Ranks whose buffers may be in the memory of a device: their phase says so, which each call of
//! MPI reads anyway. Calls of all other ranks ask nothing more.
#pragma once

#include "mpi/match/rank_state.hpp"

namespace sorrel::runtime {

/// The rank may make calls from here on. Called by the rank.
void admit_calls(mpi::RankState& self);

/// The calling rank, or the one that has started the calling thread, has got memory on a device,
/// and device::has_buffers() holds.
void note_device_memory();

}  // namespace sorrel::runtime
