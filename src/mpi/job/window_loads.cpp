#include "mpi/job/window_loads.hpp"

#include <bit>
#include <cstring>

#include "mpi/match/worker_state.hpp"
#include "mpi/net/packet_words.hpp"
#include "mpi/net/send_queue.hpp"

namespace sorrel::mpi {

WindowLoads::WindowLoads(World& world, core::JobMemory* memory)
    : world_(world),
      memory_(memory),
      received_(memory != nullptr ? 0 : world.layout().process_count()) {
  if (memory == nullptr)
    world.transport()->set_handler(number_of(PacketKind::window_load), take, this);
}

void WindowLoads::publish(std::uint32_t window, double load) {
  if (memory_ != nullptr || world_.own_process() == 0)
    return of(world_.own_process()).publish(window, load);
  const transport::Packet packet{.kind = number_of(PacketKind::window_load),
                                 .words = {window, 0, 0, 0},
                                 .payload_bytes = sizeof load};
  SendQueue& send_queue = *world_.state_of(*core::Worker::current()).send_queue;
  send_queue.post({.process = 0, .worker = 0}, packet, std::bit_cast<std::uint64_t>(load));
}

void WindowLoads::take(void* owner,
                       core::Worker& /*receiver*/,
                       Endpoint from,
                       const transport::Packet& packet,
                       const std::byte* payload) {
  double load = 0;
  std::memcpy(&load, payload, sizeof load);
  static_cast<WindowLoads*>(owner)->of(from.process).publish(packet.words[0], load);
}

bool WindowLoads::are_of(std::uint32_t window) {
  for (std::uint32_t i = 0; i < world_.layout().process_count(); ++i) {
    if (!of(i).is_of(window)) return false;
  }
  return true;
}

std::vector<double> WindowLoads::loads() {
  std::vector<double> loads;
  for (std::uint32_t i = 0; i < world_.layout().process_count(); ++i)
    loads.push_back(of(i).load());
  return loads;
}

}  // namespace sorrel::mpi
