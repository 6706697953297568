//! Cancel - taking back a receive that nothing has matched, or a send that no receive has matched.
//!
//! A request is cancelled or completes as if it had not been asked; either comes soon, whatever the
//! other rank does. README.md, "Cancel", has the protocol. Called on the owner's worker, of an
//! active request of MPI_Cancel's caller; never suspends.
#pragma once

#include "mpi/p2p/request.hpp"

namespace sorrel::mpi {

/// Complete at once, or when the receiver's worker has answered.
void cancel(Request& request);

/// Takes a posted receive back: true when it is cancelled, false when it has already matched.
bool cancel_receive(Request& request);

}  // namespace sorrel::mpi
