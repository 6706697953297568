//! MPI_Comm_spawn and MPI_Comm_spawn_multiple: new ranks in the caller's process, and the
//! intercommunicator between them and the group of `comm`. MPI 5.0, 11.8.
//!
//! The root makes the ranks, in its own fiber, and both sides of the intercommunicator as far as
//! the new ranks need theirs, which takes no messages. Then it tells the group of `comm` their
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
