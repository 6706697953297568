//! Relay - packets of a rank that has left the worker on which it was made, its *first* worker.
//!
//! Other processes know the first worker of each rank, and it stays the end of the rank's packets
//! for ever: it passes those that arrive to the rank, and sends those of the rank. So nothing
//! changes in other processes when a rank moves. README.md, "Ranks that move", has the proof of
//! order. Each function runs on the worker that it names; nothing suspends.
#pragma once

#include "mpi/match/rank_state.hpp"
#include "mpi/net/remote_message.hpp"
#include "transport/transport.hpp"

namespace sorrel::mpi {

/// The state of the worker on which the rank was made.
[[nodiscard]] WorkerState& first_state_of(const RankState& rank);

/// On the rank's first worker: the packet is handled where the rank is; dropped if it has ended.
void pass_to(RankState& rank,
             transport::PacketHandler handler,
             core::Worker& first,
             Endpoint from,
             const transport::Packet& packet,
             const std::byte* payload);

/// On the rank's worker: a message of that cost to the window of its first worker is gone.
void return_credit(RankState& rank, Endpoint from, std::uint32_t cost);

/// On the rank's worker: `step` is called on its first worker, with the send and that worker's
/// state; or back, from there to the rank's worker. One at a time for each `call`.
void pass_to_first(RankState& rank, RemoteSend::Call& call, RemoteSend::Step step);
void pass_back(RankState& rank, RemoteSend::Call& call, RemoteSend::Step step);

/// A handler of packets to a rank, whose number is their first word.
template <transport::PacketHandler handler>
void take_for_rank(void* owner,
                   core::Worker& receiver,
                   Endpoint from,
                   const transport::Packet& packet,
                   const std::byte* payload) {
  RankState& to = static_cast<World*>(owner)->rank(static_cast<std::int32_t>(packet.words[0]));
  if (to.worker != &receiver) [[unlikely]]
    return pass_to(to, handler, receiver, from, packet, payload);
  handler(owner, receiver, from, packet, payload);
}

}  // namespace sorrel::mpi
