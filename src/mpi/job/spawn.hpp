//! MPI_Comm_spawn and MPI_Comm_spawn_multiple: new ranks, and the intercommunicator between them
//! and the group of `comm`. MPI 5.0, 11.8.
//!
//! Ranks of the program of the root's process run there, those of another program in a process of
//! the job that runs it. The root has each of these processes make its ranks, and start them with
//! their side of the intercommunicator (spawn_service.hpp). Then it tells the group of `comm` their
//! numbers and the context. All functions are collective over `comm` and may suspend.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

struct SpawnResult {
  /// Null after an error.
  Comm* comm = nullptr;
  /// For each rank that was wanted, in the order of the commands: MPI_SUCCESS or MPI_ERR_SPAWN.
  std::vector<int> errors;
};

/// `commands` and `error`, of checks of the root's arguments, are significant at the root. An error
/// there is one of all members; MPI_ERR_SPAWN: the ranks could not be started.
[[nodiscard]] int comm_spawn(RankState& self,
                             Comm& comm,
                             std::span<const SpawnCommand> commands,
                             int error,
                             std::int32_t root,
                             SpawnResult& result);

}  // namespace sorrel::mpi
