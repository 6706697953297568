//! Messages between processes: the same matching, with packets instead of mailboxes.
//!
//! Short messages go with their data (*eager*) as long as the receiver's worker has granted room
//! for them; all others leave their data with the sender and send a *notice*. The receiver of a
//! notice reads the data from the sender's memory and answers *done*, or, where it cannot read
//! there, answers *clear to send* and is sent segments. Called on the rank's own worker; nothing
//! suspends. README.md, "Between processes", has the protocol, why nothing is lost, doubled or
//! overtaken, and the bound of memory.
#pragma once

#include "mpi/p2p/deliver.hpp"
#include "mpi/p2p/send.hpp"

namespace sorrel::mpi {

/// Sends a message that fits into a packet; true when the buffer may be reused.
[[nodiscard]] bool try_send_remote(RankState& self,
                                   const Comm& comm,
                                   const SendArguments& arguments);

/// What remains when that has failed: the request is complete when the data has left.
void start_remote_send(Request& request);

/// Takes an active send back unless a receive matches it; either way it is complete when the
/// receiver's worker has answered.
void cancel_remote_send(Request& request);

/// Whether a message of the unexpected table came from another process.
inline bool is_remote(const Message& message) {
  return message.request != nullptr && message.request->owner->worker == nullptr;
}

/// As deliver_and_dispose(), of a remote message; the receive may be complete later only.
void deliver_remote(Request& receive, Message& message);

/// Nobody will receive it any more.
void dispose_remote(RankState& to, Message& message);

void set_message_handlers(transport::Transport& transport, World& world);

}  // namespace sorrel::mpi
