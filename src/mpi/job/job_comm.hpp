//! The communicator of all ranks of the job, those that are spawned too, by their numbers: for
//! messages of the library between ranks that may share no communicator of the program. A rank of
//! another process must be known (learn_rank()). Own worker only.
#pragma once

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

/// The rank's view. Point-to-point messages only; made at the first call.
[[nodiscard]] Comm& job_comm_of(RankState& self);

/// Whether all members of the group have the caller's MPI_COMM_WORLD.
[[nodiscard]] bool is_within_world(const RankState& self, const Group& group);

}  // namespace sorrel::mpi
