#include "mpi/net/relay.hpp"

#include <memory>

#include "base/copy_bytes.hpp"
#include "mpi/net/eager_windows.hpp"
#include "mpi/net/packet_words.hpp"

namespace sorrel::mpi {

namespace {

/// A packet on its way from the first worker of a rank.
struct PassedPacket : core::RemoteCall {
  transport::PacketHandler handler = nullptr;
  World* world = nullptr;
  Endpoint from;
  transport::Packet packet;
  std::unique_ptr<std::byte[]> payload;
};

struct ReturnedCredit : core::RemoteCall {
  EagerWindows* windows = nullptr;
  Endpoint from;
  std::uint32_t cost = 0;
};

/// A message for a rank that was spawned and has ended matches nothing.
void drop(const World& world,
          const core::Worker& receiver,
          Endpoint from,
          const transport::Packet& packet) {
  if (packet.kind != number_of(PacketKind::eager)) return;
  world.state_of(receiver).eager_windows->give_back(from,
                                                    EagerWindows::cost_of(packet.payload_bytes));
}

void run_step(core::Worker& here, core::RemoteCall& call) {
  auto& passed = static_cast<RemoteSend::Call&>(call);
  RemoteSend& send = *passed.send;
  passed.step(send, send.request->owner->world->state_of(here));
}

}  // namespace

WorkerState& first_state_of(const RankState& rank) {
  const World& world = *rank.world;
  return world.state_of(world.worker(world.layout().endpoint_of(rank.world_rank).worker));
}

void pass_to(RankState& rank,
             transport::PacketHandler handler,
             core::Worker& first,
             Endpoint from,
             const transport::Packet& packet,
             const std::byte* payload) {
  if (rank.worker == nullptr) return drop(*rank.world, first, from, packet);
  SORREL_ASSERT(rank.is_away && first_state_of(rank).worker == &first, "a message for rank %d",
                rank.world_rank);
  auto* passed = new PassedPacket;
  passed->handler = handler;
  passed->world = rank.world;
  passed->from = from;
  passed->packet = packet;
  if (packet.payload_bytes != 0) {
    passed->payload = std::make_unique_for_overwrite<std::byte[]>(packet.payload_bytes);
    copy_bytes(passed->payload.get(), payload, packet.payload_bytes);
  }
  passed->run = [](core::Worker& here, core::RemoteCall& call) {
    const std::unique_ptr<PassedPacket> taken(&static_cast<PassedPacket&>(call));
    taken->handler(taken->world, here, taken->from, taken->packet, taken->payload.get());
  };
  first.post(*rank.worker, *passed);
}

void return_credit(RankState& rank, Endpoint from, std::uint32_t cost) {
  SORREL_ASSERT(is_on_worker_of(rank));
  if (!rank.is_away) [[likely]]
    return rank.worker_state->eager_windows->give_back(from, cost);
  const WorkerState& first = first_state_of(rank);
  auto* credit = new ReturnedCredit;
  credit->windows = first.eager_windows.get();
  credit->from = from;
  credit->cost = cost;
  credit->run = [](core::Worker&, core::RemoteCall& call) {
    const std::unique_ptr<ReturnedCredit> returned(&static_cast<ReturnedCredit&>(call));
    returned->windows->give_back(returned->from, returned->cost);
  };
  rank.worker->post(*first.worker, *credit);
}

void pass_to_first(RankState& rank, RemoteSend::Call& call, RemoteSend::Step step) {
  SORREL_ASSERT(rank.is_away && is_on_worker_of(rank));
  call.step = step;
  call.run = run_step;
  rank.worker->post(*first_state_of(rank).worker, call);
}

void pass_back(RankState& rank, RemoteSend::Call& call, RemoteSend::Step step) {
  SORREL_ASSERT(rank.is_away && first_state_of(rank).worker == core::Worker::current());
  call.step = step;
  call.run = run_step;
  core::Worker::current()->post(*rank.worker, call);
}

}  // namespace sorrel::mpi
