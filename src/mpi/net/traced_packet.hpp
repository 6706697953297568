//! Packets in a trace (src/trace): both ends of each one, as the layer of MPI sends and receives
//! it. On the worker that sends or receives. Never suspends.
#pragma once

#include "mpi/comm/world.hpp"
#include "mpi/net/packet_words.hpp"
#include "trace/tracer.hpp"

namespace sorrel::mpi {

/// With the present time: before the packet is sent.
[[nodiscard, gnu::cold]] trace::Record record_of_send(transport::Endpoint from,
                                                      transport::Endpoint to,
                                                      const transport::Packet& packet);

[[gnu::cold]] void trace_received_packet(const World& world,
                                         core::Worker& receiver,
                                         transport::Endpoint from,
                                         const transport::Packet& packet);

/// A handler of packets whose owner is a World, recorded in traced runs.
template <transport::PacketHandler handler>
void take_traced(void* owner,
                 core::Worker& receiver,
                 transport::Endpoint from,
                 const transport::Packet& packet,
                 const std::byte* payload) {
  if (receiver.tracer() != nullptr) [[unlikely]]
    trace_received_packet(*static_cast<World*>(owner), receiver, from, packet);
  handler(owner, receiver, from, packet, payload);
}

/// Before the workers run.
template <transport::PacketHandler handler>
void set_packet_handler(transport::Transport& transport, PacketKind kind, World& world) {
  transport.set_handler(number_of(kind), take_traced<handler>, &world);
}

}  // namespace sorrel::mpi
