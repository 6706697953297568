#include "transport/host/host_job_stop.hpp"

#include <algorithm>
#include <cstring>

#include "os/peer_memory.hpp"
#include "transport/host/host_wait.hpp"

namespace sorrel::transport {

namespace {

/// Time between two looks at the meeting.
constexpr std::int64_t pause_ns_min = 10'000;
constexpr std::int64_t pause_ns_max = 500'000;

os::MemoryRange range_of(const void* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  return {.begin = address, .end = address + bytes};
}

}  // namespace

HostJobStop::HostJobStop(core::Scheduler& scheduler, HostTransport& transport, const HostJob& job)
    : scheduler_(scheduler),
      transport_(transport),
      job_(job),
      streams_(*job.api, job.host),
      numbers_(job.process_count) {
  connect();
}

/// What a host MPI opens later could not be told from what a rank opens.
void HostJobStop::connect() {
  std::vector<std::byte> bytes(HostStreams::chunk_bytes);
  const std::vector<os::MemoryRange> memory{range_of(bytes.data(), bytes.size())};
  std::vector<Shipment> all;
  for (std::uint32_t process = 0; process < job_.process_count; ++process) {
    if (process != job_.process) all.push_back({.process = process, .memory = memory});
  }
  streams_.run(all, all);
}

bool HostJobStop::request(core::Worker& requester) {
  if (!have_met_) meet(requester);
  was_stopped_ = false;
  return scheduler_.request_stop(requester, *this);
}

/// Returns when every process has called it as often. The requester's worker polls meanwhile, so
/// packets arrive. It has a timer, so the process is not taken for one that waits for ever.
void HostJobStop::meet(core::Worker& worker) {
  const std::uint64_t own = 0;
  const auto begin = [&](const sorrel_host_api& api, void* host) {
    api.begin_share(host, &own, numbers_.data(), sizeof own);
  };
  bool has_met = false;
  const auto look = [&](const sorrel_host_api& api, void* host) {
    has_met = api.has_shared(host) != 0;
  };
  while (!transport_.try_use(worker, begin))
    worker.sleep(pause_ns_min);
  for (std::int64_t pause_ns = pause_ns_min; !has_met;
       pause_ns = std::min(2 * pause_ns, pause_ns_max)) {
    worker.sleep(pause_ns);
    (void)transport_.try_use(worker, look);
  }
  have_met_ = true;
}

void HostJobStop::on_stopped() {
  have_met_ = false;
  // All workers of all processes are stopped: what follows does not change.
  (void)exchange(0);
  const bool is_quiet = scheduler_.is_quiet() && action().is_quiet();
  const bool has_none_in_flight = sum(transport_.excess_of_sent()) == 0;
  if (agree(is_quiet && has_none_in_flight)) {
    was_stopped_ = true;
    action().on_job_stopped(*this);
  }
  // No process goes on while another one acts.
  (void)exchange(0);
}

void HostJobStop::on_resumed(core::Worker& requester) {
  action().on_job_resumed(requester, was_stopped_);
}

/// No other worker runs.
template <class Use>
void HostJobStop::use_host(const Use& use) {
  const bool is_inside = transport_.try_use(*core::Worker::current(), use);
  SORREL_CHECK(is_inside, "a worker is inside the host MPI while all are stopped");
}

std::span<const std::uint64_t> HostJobStop::exchange(std::uint64_t own) {
  (void)gather(&own, numbers_.data(), sizeof own);
  return numbers_;
}

bool HostJobStop::gather(const void* own, void* all, std::size_t bytes) {
  use_host([&](const sorrel_host_api& api, void* host) {
    api.begin_share(host, own, all, static_cast<int>(bytes));
    wait_until([&] { return api.has_shared(host) != 0; });
  });
  return true;
}

std::optional<std::vector<std::string>> HostJobStop::exchange_parcels(
    std::span<const Parcel> parcels, std::span<const std::uint32_t> senders) {
  std::vector<std::uint64_t> own_bytes;
  for (const Parcel& parcel : parcels)
    own_bytes.push_back(parcel.bytes.size());
  std::vector<std::uint64_t> their_bytes(senders.size());
  std::vector<std::string> received(senders.size());
  std::vector<Shipment> sent(parcels.size());
  std::vector<Shipment> awaited(senders.size());
  for (std::size_t i = 0; i < parcels.size(); ++i)
    sent[i] = {.process = parcels[i].process,
               .memory = {range_of(&own_bytes[i], sizeof own_bytes[i])}};
  for (std::size_t i = 0; i < senders.size(); ++i)
    awaited[i] = {.process = senders[i],
                  .memory = {range_of(&their_bytes[i], sizeof their_bytes[i])}};
  use_host([&](const sorrel_host_api&, void*) { streams_.run(sent, awaited); });
  for (std::size_t i = 0; i < parcels.size(); ++i)
    sent[i].memory = {range_of(parcels[i].bytes.data(), parcels[i].bytes.size())};
  for (std::size_t i = 0; i < senders.size(); ++i) {
    received[i].resize(their_bytes[i]);
    awaited[i].memory = {range_of(received[i].data(), received[i].size())};
  }
  use_host([&](const sorrel_host_api&, void*) { streams_.run(sent, awaited); });
  return received;
}

bool HostJobStop::is_near(std::uint32_t process) const {
  return transport_.node_of(process) == transport_.node_of(job_.process);
}

void HostJobStop::find_readers() {
  if (!readers_.empty()) return;
  bool can_read = true;
  for (std::uint32_t process = 0; process < job_.process_count; ++process) {
    if (process != job_.process && is_near(process))
      can_read = can_read && transport_.can_pull(process);
  }
  const auto all = exchange(can_read ? 1 : 0);
  readers_.assign(all.begin(), all.end());
}

/// Within a node the receiver reads the sender's memory, if the system lets it.
bool HostJobStop::ship(std::span<const Shipment> sent, std::span<const Shipment> awaited) {
  find_readers();
  const auto is_read = [&](const Shipment& shipment, std::uint32_t reader) {
    return is_near(shipment.process) && readers_[reader] != 0;
  };
  std::vector<Shipment> far_sent;
  for (const Shipment& shipment : sent) {
    if (!is_read(shipment, shipment.process)) far_sent.push_back(shipment);
  }
  std::vector<Shipment> far_awaited;
  bool are_here = true;
  for (const Shipment& shipment : awaited) {
    if (!is_read(shipment, job_.process)) {
      far_awaited.push_back(shipment);
    } else {
      are_here =
          are_here && os::read_equal_memory(job_.members[shipment.process].pid, shipment.memory);
    }
  }
  use_host([&](const sorrel_host_api&, void*) { streams_.run(far_sent, far_awaited); });
  return are_here;
}

}  // namespace sorrel::transport
