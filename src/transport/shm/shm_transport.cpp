#include "transport/shm/shm_transport.hpp"

#include <unistd.h>

#include "os/peer_memory.hpp"

namespace sorrel::transport {

namespace {

static_assert(core::first_packet_kind + packet_kind_count_max <= core::record_kind_count);
static_assert(core::Mailbox::payload_bytes_max >= 4096);

/// What the others read to find out whether they may.
const std::uint64_t probe_value = 0x534f5252454c2121;

}  // namespace

ShmTransport::ShmTransport(core::Scheduler& scheduler, Pulling pulling)
    : scheduler_(scheduler),
      memory_(scheduler.memory()),
      pulling_(pulling),
      ways_(new std::atomic<Way>[memory_.shape().process_count]) {
  for (std::uint32_t i = 0; i < process_count(); ++i)
    ways_[i].store(Way::untried, std::memory_order_relaxed);
  scheduler.set_packet_owner(this);
  // All processes are children of one.
  os::let_descendants_read(getppid());
  core::ProcessBoard& board = memory_.process(own_process());
  board.pid.store(getpid(), std::memory_order_relaxed);
  // (B) release, pairs with (A) in try_way(): from here on our memory may be read.
  board.probe_address.store(reinterpret_cast<std::uintptr_t>(&probe_value),
                            std::memory_order_release);
}

void ShmTransport::set_handler(std::uint32_t kind, PacketHandler handler, void* owner) {
  SORREL_CHECK(kind < packet_kind_count_max);
  handlers_[kind] = {.handler = handler, .owner = owner};
  scheduler_.set_runner(static_cast<core::RecordKind>(core::first_packet_kind + kind), run_packet);
}

void ShmTransport::run_packet(core::Worker& receiver,
                              const core::Record& record,
                              const std::byte* payload) {
  const auto& self = *static_cast<ShmTransport*>(receiver.scheduler().packet_owner());
  const std::uint32_t workers = self.memory_.shape().workers_per_process;
  const Place from{.process = record.origin / workers, .worker = record.origin % workers};
  const Packet packet{.kind = std::uint32_t{record.kind} - core::first_packet_kind,
                      .words = record.words,
                      .payload_bytes = record.payload_bytes};
  const OwnedHandler& taker = self.handlers_[packet.kind];
  taker.handler(taker.owner, receiver, from, packet, payload);
}

bool ShmTransport::try_send(core::Worker& from,
                            Place to,
                            const Packet& packet,
                            const void* payload) {
  SORREL_ASSERT(to.process != own_process() && packet.payload_bytes <= payload_bytes_max());
  const std::uint32_t place = to.process * memory_.shape().workers_per_process + to.worker;
  const core::Record record{
      .kind = static_cast<core::RecordKind>(core::first_packet_kind + packet.kind),
      .origin = static_cast<std::uint16_t>(from.place()),
      .words = packet.words,
      .payload_bytes = packet.payload_bytes};
  if (from.try_post_to_place(place, record, payload)) [[likely]]
    return true;
  // Acquire, pairs with JobMemory::mark_gone(): it takes no more.
  return memory_.board(place).is_gone.load(std::memory_order_acquire) != 0;
}

ShmTransport::Way ShmTransport::try_way(std::uint32_t process) const {
  if (pulling_ == Pulling::never) return Way::closed;
  const core::ProcessBoard& board = memory_.process(process);
  // (A) acquire, pairs with (B): the other has said who may read, and who it is.
  const std::uint64_t address = board.probe_address.load(std::memory_order_acquire);
  if (address == 0) return Way::untried;
  std::uint64_t value = 0;
  const bool is_read = os::read_peer_memory(board.pid.load(std::memory_order_relaxed), &value,
                                            address, sizeof value);
  return is_read && value == probe_value ? Way::open : Way::closed;
}

bool ShmTransport::can_pull(std::uint32_t process) const {
  Way way = ways_[process].load(std::memory_order_relaxed);
  if (way == Way::untried) [[unlikely]] {
    way = try_way(process);
    ways_[process].store(way, std::memory_order_relaxed);
  }
  return way == Way::open;
}

bool ShmTransport::pull(std::uint32_t process,
                        void* target,
                        std::uintptr_t source,
                        std::size_t bytes) {
  const pid_t pid = memory_.process(process).pid.load(std::memory_order_relaxed);
  return os::read_peer_memory(pid, target, source, bytes);
}

}  // namespace sorrel::transport
