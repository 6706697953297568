#include "transport/sim/node_transport.hpp"

#include "base/copy_bytes.hpp"

namespace sorrel::transport {

SimulatedNodes::SimulatedNodes(core::Scheduler& scheduler,
                               const WireOptions& options,
                               std::uint32_t worker_count)
    : scheduler_(scheduler), worker_count_(worker_count), wire_(options), fleets_(worker_count) {
  SORREL_CHECK(worker_count <= scheduler.worker_count() && fit(options.node_count, worker_count));
  for (std::uint32_t i = 0; i < options.node_count; ++i)
    nodes_.push_back(std::make_unique<NodeTransport>(*this, i));
}

SimulatedNodes::~SimulatedNodes() = default;

std::uint32_t SimulatedNodes::first_worker(std::uint32_t node) const {
  return worker_count_ > count() ? node * (worker_count_ / count())
                                 : node / (count() / worker_count_);
}

SimulatedNodes::Flight& SimulatedNodes::idle_flight(core::Worker& sender,
                                                    std::uint32_t payload_bytes) {
  SORREL_ASSERT(&sender == core::Worker::current(), "the flights of another worker");
  Fleet& fleet = fleets_[sender.index()];
  if (fleet.idle == nullptr) {
    Flight& made = *fleet.flights.emplace_back(std::make_unique<Flight>());
    made.nodes = this;
    made.sender = &sender;
    fleet.idle = &made;
  }
  Flight& flight = *fleet.idle;
  SORREL_ASSERT(flight.sender == &sender);
  fleet.idle = flight.next_idle;
  if (flight.payload_room < payload_bytes) {
    flight.payload = std::make_unique_for_overwrite<std::byte[]>(payload_bytes);
    flight.payload_room = payload_bytes;
  }
  return flight;
}

void SimulatedNodes::give_back(Flight& flight) {
  Fleet& fleet = fleets_[flight.sender->index()];
  SORREL_ASSERT(flight.sender == core::Worker::current());
  SORREL_ASSERT(&flight != fleet.idle, "given back twice");
  flight.next_idle = fleet.idle;
  fleet.idle = &flight;
}

/// The arrival time has come.
void SimulatedNodes::land(core::Worker& receiver, Flight& flight) {
  SORREL_ASSERT(&receiver == &worker_of(flight.to), "a flight has landed on another worker");
  const OwnedHandler& taker = handler_of(node(flight.to.process).handlers_, flight.packet);
  taker.handler(taker.owner, receiver, flight.from, flight.packet, flight.payload.get());
  if (flight.sender == &receiver) {
    give_back(flight);
    return;
  }
  flight.core::RemoteCall::run = [](core::Worker&, core::RemoteCall& notice) {
    auto& returned = static_cast<Flight&>(notice);
    returned.nodes->give_back(returned);
  };
  receiver.post(*flight.sender, flight);
}

void NodeTransport::set_handler(std::uint32_t kind, PacketHandler handler, void* owner) {
  SORREL_CHECK(kind < packet_kind_count_max);
  handlers_[kind] = {.handler = handler, .owner = owner};
}

bool NodeTransport::try_send(core::Worker& from,
                             Endpoint to,
                             const Packet& packet,
                             const void* payload) {
  SORREL_ASSERT(to.process != own_node_ && packet.payload_bytes <= payload_bytes_max(to.process));
  SimulatedNodes::Flight& flight = nodes_.idle_flight(from, packet.payload_bytes);
  flight.from = {.process = own_node_, .worker = from.index() - nodes_.first_worker(own_node_)};
  SORREL_ASSERT(&nodes_.worker_of(flight.from) == &from, "the sender runs another node");
  flight.to = to;
  flight.packet = packet;
  copy_bytes(flight.payload.get(), payload, packet.payload_bytes);
  flight.due_ns = nodes_.wire().arrival_ns(own_node_, to.process, from.now_ns(),
                                           Wire::header_bytes + packet.payload_bytes);
  flight.core::Timer::run = [](core::Worker& receiver, core::Timer& timer) {
    auto& due = static_cast<SimulatedNodes::Flight&>(timer);
    due.nodes->land(receiver, due);
  };
  core::Worker& receiver = nodes_.worker_of(to);
  if (&receiver == &from) {
    receiver.add_timer(flight);
    return true;
  }
  flight.core::RemoteCall::run = [](core::Worker& worker, core::RemoteCall& notice) {
    worker.add_timer(static_cast<SimulatedNodes::Flight&>(notice));
  };
  from.post(receiver, flight);
  return true;
}

std::int64_t NodeTransport::pull_due_ns(core::Worker& by,
                                        std::uint32_t process,
                                        std::size_t bytes) {
  return nodes_.wire().answer_ns(own_node_, process, by.now_ns(), bytes);
}

bool NodeTransport::pull(std::uint32_t /*process*/,
                         void* target,
                         std::uintptr_t source,
                         std::size_t bytes) {
  copy_bytes(target, reinterpret_cast<const void*>(source), bytes);
  return true;
}

bool NodeTransport::pull_past_caches(std::uint32_t /*process*/,
                                     void* target,
                                     std::uintptr_t source,
                                     std::size_t bytes) {
  copy_past_caches(target, reinterpret_cast<const void*>(source), bytes);
  return true;
}

}  // namespace sorrel::transport
