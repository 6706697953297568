//! Starts the operation that a request describes: a send or a receive, once or repeatedly
//! (persistent requests).
#pragma once

#include "mpi/match/receive.hpp"
#include "mpi/match/send.hpp"

namespace sorrel::mpi {

/// Activates a new request and starts it; with MPI_PROC_NULL it is complete at once. Never
/// suspends. MPI_ERR_BUFFER if a buffered send does not fit.
[[nodiscard]] int start(Request& request);

/// As start(), for a persistent request that may have been used before. May suspend if it is an
/// operation's.
[[nodiscard]] int restart(Request& request);

/// Starts a receive and a send as one request, the receive's.
[[nodiscard]] int start_pair(Request& receive, Request& send);

}  // namespace sorrel::mpi
