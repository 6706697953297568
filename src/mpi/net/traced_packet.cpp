#include "mpi/net/traced_packet.hpp"

#include "trace/arrival.hpp"

namespace sorrel::mpi {

namespace {

std::uint64_t word_of(transport::Endpoint endpoint) {
  return std::uint64_t{endpoint.process} << 32 | endpoint.worker;
}

trace::PacketRecord description_of(transport::Endpoint from,
                                   transport::Endpoint to,
                                   const transport::Packet& packet) {
  return {.from = word_of(from),
          .to = word_of(to),
          .packet_kind = packet.kind,
          .bytes = packet.payload_bytes};
}

}  // namespace

trace::Record record_of_send(transport::Endpoint from,
                             transport::Endpoint to,
                             const transport::Packet& packet) {
  return description_of(from, to, packet).as(trace::Kind::packet_sent);
}

void trace_received_packet(const World& world,
                           core::Worker& receiver,
                           transport::Endpoint from,
                           const transport::Packet& packet) {
  receiver.tracer()->add(trace::record_of_arrival(
      description_of(from, world.endpoint_of(receiver), packet), trace::Kind::packet_received));
}

}  // namespace sorrel::mpi
