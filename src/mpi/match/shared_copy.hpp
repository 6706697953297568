//! Shared copy - a long message between two workers, copied by both: the receiver's worker copies
//! the front, the sender's, which would only wait, the rest.
//!
//! The handoff of the send (Request::Handoff) goes there and back once more; see README.md,
//! "Copying by both workers". The sender's worker declines if it has ranks to run, and gets no
//! handoff if it sleeps. Then the receiver's worker copies everything. Called on the receiver's
//! worker. Never suspends.
#pragma once

#include "mpi/match/request.hpp"

namespace sorrel::mpi {

/// Whether to share the copy of a matched message: long, of plain bytes, and its sender awake on
/// another worker.
[[nodiscard]] bool can_be_shared(const Request& receive, const Request& send);

/// Delivers the message; `receive` and `send` are completed when both parts are done.
void copy_together(Request& receive, Request& send);

}  // namespace sorrel::mpi
