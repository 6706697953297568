//! Shared copy - a long message between two workers, copied by both: the receiver's worker takes
//! the front, the sender's, which would only wait, the rest.
//!
//! The notice of the send (Request::Handoff) goes there and back once more than it would;
//! README.md, "By both". The sender's worker declines when it has ranks to run, and is not asked
//! when it sleeps: then the receiver's copies everything. Called on the receiver's worker. Never
//! suspends.
#pragma once

#include "mpi/p2p/request.hpp"

namespace sorrel::mpi {

/// Whether sharing the copy of a matched message is worth it: long, of plain bytes, and its sender
/// awake on another worker.
[[nodiscard]] bool can_be_shared(const Request& receive, const Request& send);

/// Delivers the message; `receive` and `send` are completed when both parts are done.
void copy_together(Request& receive, Request& send);

}  // namespace sorrel::mpi
