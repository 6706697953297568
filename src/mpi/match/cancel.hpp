//! Cancel - withdraws a receive that has matched no message, or a send that no receive has matched.
//!
//! A request is either cancelled or completes as without MPI_Cancel; one of the two happens soon,
//! whatever the peer does. README.md, "Cancel", has the protocol. Called on the owner's worker, for
//! an active request of the caller of MPI_Cancel; never suspends.
#pragma once

#include "mpi/match/request.hpp"

namespace sorrel::mpi {

/// Takes effect at once, or when the receiver's worker has answered.
void cancel(Request& request);

/// Withdraws a posted receive: true if it is cancelled, false if it has already matched.
bool cancel_receive(Request& request);

}  // namespace sorrel::mpi
