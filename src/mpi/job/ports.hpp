//! MPI_Comm_accept and MPI_Comm_connect: an intercommunicator between two groups of the job that
//! meet at a port, and MPI_Comm_join. MPI 5.0, 11.9 and 11.10.
//!
//! The roots meet in the table of ports of the process that has opened the port. The one that comes
//! second sends its number to the one that waits; then both groups make the intercommunicator as
//! MPI_Intercomm_create does, with messages of the job's communicator between the roots. All
//! functions are collective over `comm` and may suspend.
#pragma once

#include <string>

#include "mpi/job/port_service.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

/// The ports of the caller's job.
[[nodiscard]] PortService& ports_of(const RankState& self);

/// `port_name` and `error`, of checks of the root's arguments, are significant at the root. An
/// error there is one of all members. MPI_ERR_PORT: no such port, or it was closed meanwhile.
[[nodiscard]] int meet_at_port(RankState& self,
                               Comm& comm,
                               int error,
                               const char* port_name,
                               PortTable::Side side,
                               std::int32_t root,
                               Comm** result);

/// MPI_Close_port. MPI_ERR_PORT: it is not open.
[[nodiscard]] int close_port(RankState& self, const std::string& name);

/// The ports of a rank that ends. Its last messages.
void close_ports_of(RankState& self);

/// An intercommunicator of two ranks, called by both with the same tag.
[[nodiscard]] int join_rank(RankState& self, std::int32_t peer, std::int32_t tag, Comm** result);

}  // namespace sorrel::mpi
