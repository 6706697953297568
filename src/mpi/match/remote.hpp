//! Messages between processes, as matching sees them: functions that net implements.
//!
//! Short messages travel with their data (*eager*) as long as the receiver's worker has granted
//! credit. All other messages leave their data with the sender and send an RTS (*rendezvous*). The
//! receiver of an RTS reads the data from the sender's memory and answers FIN. If it cannot read
//! there, it answers CTS and the sender pushes the data. Called on the rank's own worker; nothing
//! suspends. net/README.md has the protocol, the proofs against loss, duplicates
//! and overtaking, and the bound of memory.
#pragma once

#include "mpi/match/rank_state.hpp"
#include "mpi/match/request.hpp"

namespace sorrel::mpi {

struct SendArguments;

/// Sends a message that fits into a packet; true if the buffer may be reused.
[[nodiscard]] bool try_send_remote(RankState& self,
                                   const Comm& comm,
                                   const SendArguments& arguments);

/// The second step if that has failed: the request is complete when the data has left.
void start_remote_send(Request& request);

/// Withdraws an active send unless a receive has matched it. In both cases the request is complete
/// when the receiver's worker has answered.
void cancel_remote_send(Request& request);

/// Whether a message of the unexpected table came from another process.
inline bool is_remote(const Message& message) {
  return message.request != nullptr && message.request->owner->worker == nullptr;
}

/// Whether all data of a message of the unexpected table is with its receiver.
[[nodiscard]] bool is_copied(const Message& message);

/// As deliver_and_dispose(), for a remote message; the receive may be complete only later.
void deliver_remote(Request& receive, Message& message);

/// pass_copy(), for a remote message.
void pass_remote_copy(core::MessagePool& from, core::MessagePool& to, const Message& message);

/// Drops a message that no receive can match any more.
void dispose_remote(RankState& to, Message& message);

/// dispose_remote() at the end of the rank, when its worker ends: no credit is returned.
void discard_remote(RankState& to, Message& message);

}  // namespace sorrel::mpi
