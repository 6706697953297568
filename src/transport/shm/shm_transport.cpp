#include "transport/shm/shm_transport.hpp"

#include <algorithm>
#include <cstring>
#include <unistd.h>

#include "core/perturbation.hpp"
#include "os/peer_memory.hpp"
#include "os/thread.hpp"

namespace sorrel::transport {

namespace {

static_assert(core::first_packet_kind + packet_kind_count_max < core::record_kind_count);
static_assert(core::Mailbox::payload_bytes_max >= 4096);

/// The transport's own kind, after those of the layers above.
constexpr std::uint32_t help_kind = packet_kind_count_max;

// A shorter message is copied before another worker could react.
constexpr std::size_t shared_bytes_min = std::size_t{512} << 10;
constexpr std::size_t chunk_bytes_min = std::size_t{64} << 10;
/// Ranks of the helper wait during this time.
constexpr std::uint32_t helped_chunks_max = 64;
/// Polls of the helper's progress before sched_yield(): the helper may need this core.
constexpr int looks_before_yield = 1000;

static_assert(sizeof(ChunkClaims) <= sizeof(core::WorkerControl::for_transport));

/// Read by other processes to test whether they may read this process's memory.
const std::uint64_t probe_value = 0x534f5252454c2121;

}  // namespace

ShmTransport::ShmTransport(core::Scheduler& scheduler, Pulling pulling, pid_t common_ancestor)
    : scheduler_(scheduler),
      memory_(scheduler.memory()),
      by_worker_count_(memory_.shape().workers_per_process),
      pulling_(pulling),
      ways_(new std::atomic<Way>[memory_.shape().process_count]) {
  for (std::uint32_t i = 0; i < process_count(); ++i)
    ways_[i].store(Way::untried, std::memory_order_relaxed);
  scheduler.set_packet_owner(this);
  help_ = {.handler = help, .owner = this};
  scheduler.set_runner(static_cast<core::RecordKind>(core::first_packet_kind + help_kind),
                       run_packet);
  os::let_descendants_read(common_ancestor);
  core::ProcessStatus& board = memory_.process(own_process());
  board.pid.store(getpid(), std::memory_order_relaxed);
  // (B) release, pairs with (A) in try_way(): from here on this process's memory may be read.
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
  const auto process = static_cast<std::uint32_t>(self.by_worker_count_.quotient_of(record.origin));
  const Endpoint from{.process = process,
                      .worker = record.origin - process * self.memory_.shape().workers_per_process};
  SORREL_ASSERT(from.process < self.process_count() && from.process != self.own_process());
  const Packet packet{.kind = std::uint32_t{record.kind} - core::first_packet_kind,
                      .words = record.words,
                      .payload_bytes = record.payload_bytes};
  const OwnedHandler& taker =
      packet.kind == help_kind ? self.help_ : handler_of(self.handlers_, packet);
  taker.handler(taker.owner, receiver, from, packet, payload);
}

bool ShmTransport::try_post(core::Worker& from,
                            Endpoint to,
                            const Packet& packet,
                            const void* payload) {
  SORREL_ASSERT(to.process != own_process() && to.process < process_count() &&
                to.worker < memory_.shape().workers_per_process);
  SORREL_ASSERT(packet.payload_bytes <= payload_bytes_max(to.process));
  SORREL_ASSERT(&from == core::Worker::current(), "a mailbox has one sender");
  const std::uint32_t endpoint = to.process * memory_.shape().workers_per_process + to.worker;
  const core::Record record{
      .kind = static_cast<core::RecordKind>(core::first_packet_kind + packet.kind),
      .origin = static_cast<std::uint16_t>(from.id()),
      .words = packet.words,
      .payload_bytes = packet.payload_bytes};
  if (core::perturbs_choice(from.id())) return false;
  return from.try_post_to(endpoint, record, payload);
}

bool ShmTransport::try_send(core::Worker& from,
                            Endpoint to,
                            const Packet& packet,
                            const void* payload) {
  if (try_post(from, to, packet, payload)) [[likely]]
    return true;
  const std::uint32_t endpoint = to.process * memory_.shape().workers_per_process + to.worker;
  // Acquire, pairs with JobMemory::mark_gone(): it takes no more records.
  return memory_.control(endpoint).is_gone.load(std::memory_order_acquire) != 0;
}

ShmTransport::Way ShmTransport::try_way(std::uint32_t process) const {
  if (pulling_ == Pulling::never) return Way::closed;
  const core::ProcessStatus& board = memory_.process(process);
  // (A) acquire, pairs with (B): the other process has permitted reading and stored its pid.
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
  core::Worker* worker = core::Worker::current();
  if (bytes >= shared_bytes_min && worker != nullptr) {
    const std::uint32_t helper = helper_of(*worker, process);
    // A guess: a sleeping worker would wake too late.
    if (!memory_.parker(helper).is_parked())
      return pull_together(*worker, helper, static_cast<std::byte*>(target), source, bytes);
  }
  return pull_alone(process, target, source, bytes);
}

bool ShmTransport::pull_alone(std::uint32_t process,
                              void* target,
                              std::uintptr_t source,
                              std::size_t bytes) const {
  const pid_t pid = memory_.process(process).pid.load(std::memory_order_relaxed);
  return os::read_peer_memory(pid, target, source, bytes);
}

bool ShmTransport::pull_together(core::Worker& worker,
                                 std::uint32_t helper,
                                 std::byte* target,
                                 std::uintptr_t source,
                                 std::size_t bytes) {
  const std::uint32_t workers = memory_.shape().workers_per_process;
  const std::uint32_t process = helper / workers;
  const std::size_t least = bytes / ChunkClaims::chunk_count_max + 1;
  const std::size_t chunk = (std::max(chunk_bytes_min, least) + 4095) / 4096 * 4096;
  const auto chunk_count = static_cast<std::uint32_t>((bytes + chunk - 1) / chunk);
  SORREL_ASSERT(process != own_process() && process < process_count());
  ChunkClaims& claims = claims_of(worker.id());
  const HelpWanted wanted{.target = reinterpret_cast<std::uintptr_t>(target),
                          .source = source,
                          .bytes = bytes,
                          .chunk_bytes = chunk,
                          .round = claims.open(chunk_count)};
  // Without room for the packet there is no help; the receiver copies alone.
  (void)try_send(worker, {.process = process, .worker = helper % workers},
                 {.kind = help_kind, .words = {}, .payload_bytes = sizeof wanted}, &wanted);
  const auto pull_part = [&](std::size_t first, std::size_t last) {
    return pull_alone(process, target + first, source + first, std::min(last, bytes) - first);
  };
  bool is_here = true;
  while (const auto index = claims.claim_front())
    is_here = is_here && pull_part(*index * chunk, (*index + 1) * chunk);
  const std::uint32_t first = claims.first_of_helper();
  SORREL_ASSERT(first <= chunk_count);
  for (int looks = 1; !claims.are_done(chunk_count - first); ++looks)
    if (looks % looks_before_yield == 0) os::yield_core();
  if (claims.has_failed()) return is_here && pull_part(first * chunk, bytes);
  return is_here;
}

void ShmTransport::help(void* owner,
                        core::Worker& worker,
                        Endpoint from,
                        [[maybe_unused]] const Packet& packet,
                        const std::byte* payload) {
  const auto& self = *static_cast<ShmTransport*>(owner);
  HelpWanted wanted;
  SORREL_ASSERT(packet.payload_bytes == sizeof wanted);
  std::memcpy(&wanted, payload, sizeof wanted);
  ChunkClaims& claims =
      self.claims_of(from.process * self.memory_.shape().workers_per_process + from.worker);
  const pid_t pid = self.memory_.process(from.process).pid.load(std::memory_order_relaxed);
  for (std::uint32_t helped = 0; helped < helped_chunks_max && !worker.has_ready(); ++helped) {
    const auto index = claims.claim_back(wanted.round);
    if (!index) return;
    const std::uint64_t first = *index * wanted.chunk_bytes;
    SORREL_ASSERT(first < wanted.bytes, "a chunk of another round");
    const std::uint64_t last = std::min(first + wanted.chunk_bytes, wanted.bytes);
    claims.finish_back(os::write_peer_memory(pid, wanted.target + first,
                                             reinterpret_cast<const void*>(wanted.source + first),
                                             last - first));
  }
}

std::uint32_t ShmTransport::helper_of(const core::Worker& worker, std::uint32_t process) const {
  const std::uint32_t workers = memory_.shape().workers_per_process;
  return process * workers + worker.id() % workers;
}

ChunkClaims& ShmTransport::claims_of(std::uint32_t endpoint) const {
  return *reinterpret_cast<ChunkClaims*>(memory_.control(endpoint).for_transport);
}

}  // namespace sorrel::transport
