//! Nonblocking accesses: of one rank, on a fiber of the worker's pool; collective ones as
//! nonblocking collectives.
//!
//! Owner's worker. The datatype is held until the access has ended; the file and its view must
//! stay, so calls that change them fail while accesses are outstanding.
#pragma once

#include "mpi/io/access.hpp"
#include "mpi/match/request.hpp"

namespace sorrel::mpi {

/// Starts an access of this rank. May suspend.
[[nodiscard]] int start_alone(File& file, const FileAccess& access, MPI_Request* request);

/// Starts a collective access of this kind. May suspend.
[[nodiscard]] int start_together(File& file,
                                 CollectiveKind kind,
                                 const FileAccess& access,
                                 MPI_Request* request);

}  // namespace sorrel::mpi
