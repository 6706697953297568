//! Starting what a request describes: a send or a receive, once or again (persistent requests).
#pragma once

#include "mpi/p2p/receive.hpp"
#include "mpi/p2p/send.hpp"

namespace sorrel::mpi {

/// Makes the request active and starts it; with MPI_PROC_NULL it is complete at once. Never
/// suspends. MPI_ERR_BUFFER when a buffered send does not fit.
[[nodiscard]] int start(Request& request);

/// A new request from the pool for a send or a receive; not started.
Request& make_send(RankState& self, Comm& comm, const SendArguments& arguments, SendMode mode);
Request& make_receive(RankState& self, Comm& comm, const ReceiveArguments& arguments);

/// Starts a receive and a send under one request, the receive's.
[[nodiscard]] int start_pair(Request& receive, Request& send);

}  // namespace sorrel::mpi
