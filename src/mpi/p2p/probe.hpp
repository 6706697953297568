//! Probing - looking at messages without receiving them, and setting one aside (matched probe).
#pragma once

#include "mpi/p2p/request.hpp"

namespace sorrel::mpi {

/// The oldest message that a receive from `source` with `tag` would take; null when none is here.
/// Never suspends.
Message* find_message(RankState& self, const Comm& comm, int source, int tag);

/// Waits for such a message. May suspend.
Message& wait_for_message(RankState& self, const Comm& comm, int source, int tag);

/// Takes a message of the communicator out of the unexpected table: only its handle can receive it
/// now. Its receiver releases the communicator.
void set_aside(RankState& self, Comm& comm, Message& message);

}  // namespace sorrel::mpi
