//! Packets in a trace (src/trace): both ends of each one, as the layer of MPI sends and receives
//! it. On the worker that sends or receives. Never suspends.
#pragma once

#include "mpi/comm/world.hpp"
#include "mpi/net/packet_kind.hpp"
#include "trace/tracer.hpp"

namespace sorrel::mpi {

/// With the present time. `kind`: packet_sent or packet_received.
[[nodiscard, gnu::cold]] trace::Record packet_record(trace::Kind kind,
                                                     transport::Endpoint from,
                                                     transport::Endpoint to,
                                                     const transport::Packet& packet);

/// A handler of packets whose owner is a World, recorded in traced runs.
template <transport::PacketHandler handler>
void take_traced(void* owner,
                 core::Worker& receiver,
                 transport::Endpoint from,
                 const transport::Packet& packet,
                 const std::byte* payload) {
  if (receiver.tracer() != nullptr) [[unlikely]] {
    receiver.tracer()->add(packet_record(trace::Kind::packet_received, from,
                                         static_cast<World*>(owner)->endpoint_of(receiver),
                                         packet));
  }
  handler(owner, receiver, from, packet, payload);
}

/// Before the workers run.
template <transport::PacketHandler handler>
void set_packet_handler(transport::Transport& transport, PacketKind kind, World& world) {
  transport.set_handler(number_of(kind), take_traced<handler>, &world);
}

}  // namespace sorrel::mpi
