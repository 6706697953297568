//! Probe - finding messages without receiving them, and reserving one (matched probe).
#pragma once

#include "mpi/match/request.hpp"

namespace sorrel::mpi {

/// The oldest message that a receive from `source` with `tag` would match; null if none has
/// arrived. Never suspends.
Message* find_message(RankState& self, const Comm& comm, int source, int tag);

/// Waits for such a message. May suspend.
Message& wait_for_message(RankState& self, const Comm& comm, int source, int tag);

/// Removes a message of the communicator from the unexpected table: only a receive by its handle
/// can receive it now. Its receive releases the communicator.
void set_aside(RankState& self, Comm& comm, Message& message);

}  // namespace sorrel::mpi
