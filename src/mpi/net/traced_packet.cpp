#include "mpi/net/traced_packet.hpp"

namespace sorrel::mpi {

namespace {

std::uint64_t word_of(transport::Endpoint endpoint) {
  return std::uint64_t{endpoint.process} << 32 | endpoint.worker;
}

}  // namespace

trace::Record packet_record(trace::Kind kind,
                            transport::Endpoint from,
                            transport::Endpoint to,
                            const transport::Packet& packet) {
  const trace::PacketRecord record{.from = word_of(from),
                                   .to = word_of(to),
                                   .packet_kind = packet.kind,
                                   .bytes = packet.payload_bytes};
  return record.as(kind);
}

}  // namespace sorrel::mpi
