#include "transport/host/host_transport.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/peer_memory.hpp"
#include "os/thread.hpp"

namespace sorrel::transport {

namespace {

static_assert(packet_kind_count_max <= 64 && HostTransport::process_count_max <= 1024);

/// Layout of the kind in an outbox's record: six bits of packet kind, ten of process.
constexpr std::uint32_t kind_bits = 6;

/// Time during which an idle worker polls without a pause.
constexpr std::int64_t hot_ns_alone = 50'000;
/// That time where other threads want the core.
constexpr std::int64_t hot_ns_crowded = 5'000;
/// Shortest interval of polls of a worker with ready fibers.
constexpr std::int64_t busy_poll_ns = 300;
/// Interval of polls of an idle worker that is not on duty.
constexpr std::int64_t off_duty_ns = 2'000'000;
constexpr std::int64_t poll_interval_ns_min = 2'000;
/// Packets taken before the worker does something else.
constexpr int take_count_max = 64;
/// Asking the host is the main part of a poll, and less than half of its cost.
constexpr int misses_per_poll = 3;
/// Interval where nothing else can arrive, and no other thread wants the core.
constexpr int misses_per_poll_alone = 24;
/// Interval where the awaited message may also come from a neighbour.
constexpr int misses_per_poll_among_neighbours = 1;
/// Interval between two sleeps.
constexpr int misses_per_cold_poll = 2;
/// A message is late by at most this part of the wait for it.
constexpr std::int64_t wait_per_sleep = 8;
/// Sleep of a process that only serves others until they finish.
constexpr std::int64_t finish_sleep_ns_max = 1'000'000;

}  // namespace

std::vector<std::uint32_t> HostJob::neighbours() const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < process_count; ++i) {
    if (members[i].node == members[process].node) found.push_back(i);
  }
  return found;
}

namespace {

/// Processes of the node, if they share the scheduler's memory.
std::vector<std::uint32_t> near_processes(core::Scheduler& scheduler, const HostJob& job) {
  return scheduler.memory().is_shared() ? job.neighbours() : std::vector<std::uint32_t>();
}

/// Processes that are reached over the host only.
std::uint32_t count_far(core::Scheduler& scheduler, const HostJob& job) {
  const std::size_t near_count = near_processes(scheduler, job).size();
  return job.process_count - std::max(static_cast<std::uint32_t>(near_count), 1u);
}

}  // namespace

HostTransport::HostTransport(core::Scheduler& scheduler, HostJob& job)
    : HostTransport(scheduler, job, HostLimits::for_peers(count_far(scheduler, job))) {}

HostTransport::HostTransport(core::Scheduler& scheduler, HostJob& job, const HostLimits& limits)
    : scheduler_(scheduler),
      job_(job),
      is_alone_(scheduler.worker_count() == 1),
      hot_ns_(job.is_crowded ? hot_ns_crowded : hot_ns_alone),
      neighbours_(near_processes(scheduler, job)),
      near_number_(job.process_count, -1),
      misses_per_poll_(scheduler.memory().is_shared() ? misses_per_poll_among_neighbours
                       : is_alone_ && !job.is_crowded ? misses_per_poll_alone
                                                      : misses_per_poll),
      link_(*job.api, job.host, job.process, job.process_count, limits, neighbours_),
      termination_(scheduler, link_, job.process, job.process_count),
      returned_links_(link_.receive_count()),
      ways_(new std::atomic<Way>[job.process_count]) {
  SORREL_CHECK(job.process_count <= process_count_max, "%u processes under a host MPI, at most %u",
               job.process_count, process_count_max);
  static_assert(Outbox::payload_bytes_max >= HostLimits{}.payload_bytes_max);
  if (scheduler.memory().is_shared()) join_neighbours();
  for (std::uint32_t i = 0; i < job.process_count; ++i)
    ways_[i].store(Way::untried, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i) {
    auto station = std::make_unique<Station>();
    station->look.transport = this;
    station->look.is_poll = true;
    station->look.run = [](core::Worker& worker, core::Timer& timer) {
      auto& look = static_cast<Look&>(timer);
      HostTransport& self = *look.transport;
      if (self.look(worker)) {
        // The awaited packet needs no timer.
        look.due_ns = 1;
      } else {
        const std::int64_t now_ns = os::monotonic_ns();
        look.due_ns = now_ns + self.delay_after(worker, now_ns);
      }
      worker.add_timer(look);
    };
    station->inbox.resize(link_.receive_count());
    for (Call* call : {&station->call, &station->call_for_help}) {
      call->transport = this;
      call->run = [](core::Worker& worker, core::RemoteCall& notice) {
        auto& taken = static_cast<Call&>(notice);
        // Sequentially consistent, pairs with call(): a sender that finds it set has stored its
        // packet where the poll below finds it.
        taken.is_in_flight.store(false, std::memory_order_seq_cst);
        taken.transport->look(worker);
      };
    }
    stations_.push_back(std::move(station));
  }
}

HostTransport::~HostTransport() = default;

void HostTransport::join_neighbours() {
  const core::JobShape& shape = scheduler_.memory().shape();
  SORREL_CHECK(shape.is_part && shape.process_count == neighbours_.size() &&
               neighbours_[scheduler_.process()] == job_.process);
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    if (neighbours_[i] != job_.process) near_number_[neighbours_[i]] = static_cast<std::int32_t>(i);
  }
  using Pulling = ShmTransport::Pulling;
  near_ = std::make_unique<ShmTransport>(
      scheduler_, job_.may_pull ? Pulling::when_allowed : Pulling::never, job_.common_ancestor);
}

void HostTransport::set_handler(std::uint32_t kind, PacketHandler handler, void* owner) {
  SORREL_CHECK(kind < packet_kind_count_max);
  handlers_[kind] = {.handler = handler, .owner = owner};
  if (near_ != nullptr) near_->set_handler(kind, take_from_near, this);
}

/// A neighbour's packet, counted like those of the host.
void HostTransport::take_from_near(void* owner,
                                   core::Worker& receiver,
                                   Endpoint from,
                                   const Packet& packet,
                                   const std::byte* payload) {
  auto& self = *static_cast<HostTransport*>(owner);
  self.termination_.count_taken(receiver.index());
  SORREL_ASSERT(from.process < self.neighbours_.size());
  from.process = self.neighbours_[from.process];
  const OwnedHandler& to = handler_of(self.handlers_, packet);
  to.handler(to.owner, receiver, from, packet, payload);
}

void HostTransport::start(core::Worker& worker) {
  // A sleep of 100 us must not take 150.
  os::set_timer_slack(1'000);
  Look& look = stations_[worker.index()]->look;
  look.due_ns = os::monotonic_ns();
  worker.add_timer(look);
}

bool HostTransport::try_take_turn(const core::Worker& worker) {
  if (is_alone_) {
    // Relaxed: no other thread reads it.
    if (turn_.load(std::memory_order_relaxed) != 0) return false;
    turn_.store(worker.index() + 1, std::memory_order_relaxed);
    return true;
  }
  if (!may_enter(worker)) return false;
  std::uint32_t none = 0;
  // (T) acquire, pairs with release_turn(): the effects of the last holder on the link.
  // Sequentially consistent with waiting_count_: see release_turn().
  return turn_.compare_exchange_strong(none, worker.index() + 1, std::memory_order_seq_cst);
}

bool HostTransport::end_others(int status) {
  core::Worker* worker = core::Worker::current();
  if (worker == nullptr) return false;
  constexpr std::int64_t patience_ns = 1'000'000'000;
  constexpr std::int64_t pause_ns = 50'000;
  const std::int64_t give_up_ns = os::monotonic_ns() + patience_ns;
  const bool is_inside = has_turn(*worker);
  while (!is_inside && !try_take_turn(*worker)) {
    if (os::monotonic_ns() >= give_up_ns) return false;
    os::sleep_ns(pause_ns);
  }
  const bool have_ended = termination_.end_others(status);
  if (!is_inside) release_turn(*worker);
  return have_ended;
}

void HostTransport::release_turn(core::Worker& worker) {
  SORREL_ASSERT(has_turn(worker));
  if (is_alone_) {
    turn_.store(0, std::memory_order_relaxed);
    return;
  }
  // (T) release. A sender that leaves a packet counts it and then tries to take the turn; the
  // holder releases the turn and then reads the count. Both are sequentially consistent, so one of
  // them sees the other.
  turn_.store(0, std::memory_order_seq_cst);
  if (waiting_count_.load(std::memory_order_seq_cst) == 0 || !try_take_turn(worker)) return;
  // Once: packets that stay now wait for credits, and the next poll.
  empty_outboxes();
  turn_.store(0, std::memory_order_seq_cst);
}

bool HostTransport::send_now(std::uint32_t from_worker,
                             Endpoint to,
                             const Packet& packet,
                             const void* payload) {
  const HostHeader header{.kind = packet.kind,
                          .credits = 0,
                          .from_worker = from_worker,
                          .to_worker = to.worker,
                          .words = packet.words};
  return link_.try_send(to.process, header, payload, packet.payload_bytes);
}

bool HostTransport::try_send(core::Worker& from,
                             Endpoint to,
                             const Packet& packet,
                             const void* payload) {
  SORREL_ASSERT(to.process != own_process() && to.process < process_count() &&
                packet.payload_bytes <= payload_bytes_max(to.process));
  SORREL_ASSERT(&from == core::Worker::current(), "an outbox has one sender");
  // A neighbour that has ended takes its packets in finish(), and counts them.
  const bool is_taken =
      is_near(to.process)
          ? near_->try_post(from, {near_number(to.process), to.worker}, packet, payload)
          : try_send_or_leave(from, to, packet, payload);
  if (is_taken) termination_.count_sent(from.index());
  return is_taken;
}

bool HostTransport::try_send_or_leave(core::Worker& from,
                                      Endpoint to,
                                      const Packet& packet,
                                      const void* payload) {
  const Station& station = *stations_[from.index()];
  // Relaxed: nothing is read through it. No packet overtakes those in the outbox.
  if (station.taken_count.load(std::memory_order_relaxed) == station.posted_count) {
    const bool is_inside = has_turn(from);
    if (is_inside || try_take_turn(from)) {
      bool is_sent = send_now(from.index(), to, packet, payload);
      if (!is_sent) {
        // The credits may have arrived. Handlers must not run here: this may be a handler.
        serve(from, Running::later);
        is_sent = send_now(from.index(), to, packet, payload);
      }
      if (!is_inside) release_turn(from);
      // Relaxed: a hint for delay_after(), which reads the clock anyway.
      if (is_sent) has_news_.store(true, std::memory_order_relaxed);
      return is_sent;
    }
  }
  return leave_in_outbox(from, to, packet, payload);
}

bool HostTransport::leave_in_outbox(core::Worker& from,
                                    Endpoint to,
                                    const Packet& packet,
                                    const void* payload) {
  Station& station = *stations_[from.index()];
  const core::Record record{
      .kind = static_cast<core::RecordKind>(packet.kind | to.process << kind_bits),
      .origin = static_cast<std::uint16_t>(to.worker),
      .words = packet.words,
      .payload_bytes = packet.payload_bytes};
  if (!station.outbox.try_post(record, payload)) return false;
  ++station.posted_count;
  // Sequentially consistent: see release_turn().
  waiting_count_.fetch_add(1, std::memory_order_seq_cst);
  if (try_take_turn(from)) {
    empty_outboxes();
    release_turn(from);
  } else if (!may_enter(from)) {
    call(from, 0, station.call_for_help);
  }
  return true;
}

/// Sends what waits in the outboxes, as far as there are credits. Needs the turn.
void HostTransport::empty_outboxes() {
  // Relaxed: a packet counted later is seen by its sender, or when the turn is released.
  if (waiting_count_.load(std::memory_order_relaxed) == 0) return;
  for (std::uint32_t i = 0; i < stations_.size(); ++i) {
    Station& station = *stations_[i];
    bool is_sent = true;
    const auto send = [&](const core::Record& record, const std::byte* payload) {
      const Endpoint to{.process = std::uint32_t{record.kind} >> kind_bits,
                        .worker = record.origin};
      const Packet packet{.kind = record.kind & ((1u << kind_bits) - 1),
                          .words = record.words,
                          .payload_bytes = record.payload_bytes};
      is_sent = send_now(i, to, packet, payload);
      return is_sent;
    };
    while (station.outbox.take_if(send)) {
      // Relaxed: see try_send().
      station.taken_count.fetch_add(1, std::memory_order_relaxed);
      waiting_count_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
}

/// Returns whether a packet has arrived.
bool HostTransport::look(core::Worker& worker) {
  empty_inbox(worker);
  if (!try_take_turn(worker)) return false;
  const bool any = serve(worker, Running::at_once);
  if (!any) termination_.progress();
  release_turn(worker);
  empty_inbox(worker);
  return any;
}

/// All work that the holder of the turn does for every worker.
bool HostTransport::serve(core::Worker& worker, Running running) {
  SORREL_ASSERT(has_turn(worker));
  take_returned();
  empty_outboxes();
  link_.progress();
  HostLink::Arrival arrival;
  int count = 0;
  int miss_count = 0;
  // Relaxed: a hint.
  const int miss_count_max =
      is_cold_.load(std::memory_order_relaxed) ? misses_per_cold_poll : misses_per_poll_;
  const bool was_idle = running == Running::at_once && !worker.has_ready() &&
                        worker.running().state != core::FiberState::running;
  while (count < take_count_max) {
    if (link_.take(arrival)) {
      if (TerminationDetector::is_ours(arrival.header.kind)) {
        termination_.take(arrival);
        continue;
      }
      deliver(worker, arrival, running);
      ++count;
      // Packets for an idle worker go first.
      if (was_idle && worker.has_ready()) break;
    } else if (!was_idle || count != 0 || ++miss_count == miss_count_max) {
      break;
    }
  }
  // Relaxed: a hint for delay_after(), which reads the clock anyway.
  if (count != 0) has_news_.store(true, std::memory_order_relaxed);
  return count != 0;
}

void HostTransport::deliver(core::Worker& worker,
                            const HostLink::Arrival& arrival,
                            Running running) {
  const std::uint32_t to = arrival.header.to_worker;
  SORREL_ASSERT(to < stations_.size(), "a packet for worker %u", to);
  Station& station = *stations_[to];
  // Relaxed: written by the holder of the turn, which is this thread.
  const std::uint32_t tail = station.inbox_tail.load(std::memory_order_relaxed);
  if (to == worker.index() && running == Running::at_once && tail == station.inbox_head) {
    run_handler(worker, arrival);
    link_.give_back(arrival.slot);
    return;
  }
  // The inbox has room for every receive of the process. Only its worker may read the head.
  SORREL_ASSERT(to != worker.index() || tail - station.inbox_head < station.inbox.size());
  station.inbox[tail % station.inbox.size()] = arrival.slot;
  // (I) release, pairs with empty_inbox(): the packet and its position in the inbox. Sequentially
  // consistent with the call.
  station.inbox_tail.store(tail + 1, std::memory_order_seq_cst);
  if (to != worker.index()) call(worker, to, station.call);
}

void HostTransport::call(core::Worker& from, std::uint32_t worker, Call& notice) {
  // Sequentially consistent, with the store that clears it: if it is still set, the called worker
  // has yet to poll, and sees what was stored before.
  if (notice.is_in_flight.exchange(true, std::memory_order_seq_cst)) return;
  from.post(scheduler_.worker(worker), notice);
}

void HostTransport::empty_inbox(core::Worker& worker) {
  Station& station = *stations_[worker.index()];
  // (I) acquire, pairs with deliver().
  while (station.inbox_tail.load(std::memory_order_seq_cst) != station.inbox_head) {
    const std::uint32_t slot = station.inbox[station.inbox_head % station.inbox.size()];
    SORREL_ASSERT(slot < link_.receive_count());
    ++station.inbox_head;
    run_handler(worker, link_.arrival(slot));
    if (has_turn(worker)) {
      link_.give_back(slot);
    } else {
      returned_.push(slot, returned_links_[slot]);
    }
  }
}

void HostTransport::run_handler(core::Worker& worker, const HostLink::Arrival& arrival) {
  termination_.count_taken(worker.index());
  const HostHeader& header = arrival.header;
  const Endpoint from{.process = arrival.process, .worker = header.from_worker};
  const Packet packet{
      .kind = header.kind, .words = header.words, .payload_bytes = arrival.payload_bytes};
  const OwnedHandler& to = handler_of(handlers_, packet);
  to.handler(to.owner, worker, from, packet, arrival.payload);
}

void HostTransport::take_returned() {
  if (returned_.seems_empty()) return;
  returned_.take_all(
      [this](std::uint32_t slot) -> core::IndexList::Link& { return returned_links_[slot]; },
      [this](std::uint32_t slot) { link_.give_back(slot); });
}

/// Time of the worker's next poll.
std::int64_t HostTransport::delay_after(const core::Worker& worker, std::int64_t now_ns) {
  const std::uint32_t me = worker.index() + 1;
  // Relaxed, all of them: hints for the poll interval.
  std::uint32_t on_duty = on_duty_.load(std::memory_order_relaxed);
  const bool is_asking = worker.running().state == core::FiberState::running;
  if (worker.has_ready() || is_asking) {
    if (on_duty == me) on_duty_.store(0, std::memory_order_relaxed);
    last_event_ns_.store(now_ns, std::memory_order_relaxed);
    // A fiber that polls has nothing better to do.
    return is_asking ? 1 : busy_poll_ns;
  }
  if (has_news_.load(std::memory_order_relaxed)) {
    has_news_.store(false, std::memory_order_relaxed);
    last_event_ns_.store(now_ns, std::memory_order_relaxed);
  }
  const std::int64_t idle_ns = now_ns - last_event_ns_.load(std::memory_order_relaxed);
  const bool is_cold = idle_ns >= hot_ns_;
  if (is_cold != is_cold_.load(std::memory_order_relaxed))
    is_cold_.store(is_cold, std::memory_order_relaxed);
  if (!is_cold) return 1;
  if (!may_enter(worker)) return off_duty_ns;
  if (on_duty != me) {
    // A worker on duty that has not polled for long has found other work.
    const bool is_absent =
        now_ns - last_poll_ns_.load(std::memory_order_relaxed) > 2 * poll_interval_ns_max;
    if (on_duty != 0 && !is_absent) return off_duty_ns;
    if (!on_duty_.compare_exchange_strong(on_duty, me, std::memory_order_relaxed))
      return off_duty_ns;
  }
  last_poll_ns_.store(now_ns, std::memory_order_relaxed);
  return std::clamp((idle_ns - hot_ns_) / wait_per_sleep, poll_interval_ns_min,
                    poll_interval_ns_max);
}

HostTransport::Way HostTransport::try_way(std::uint32_t process) const {
  const HostMember& member = job_.members[process];
  if (!job_.may_pull || member.node != job_.members[job_.process].node) return Way::closed;
  std::uint64_t value = 0;
  const bool is_read = os::read_peer_memory(member.pid, &value, member.probe_address, sizeof value);
  return is_read && value == member.probe_value ? Way::open : Way::closed;
}

bool HostTransport::can_pull(std::uint32_t process) const {
  if (is_near(process)) return near_->can_pull(near_number(process));
  // Relaxed: a worker that finds no result tests for itself.
  Way way = ways_[process].load(std::memory_order_relaxed);
  if (way == Way::untried) [[unlikely]] {
    way = try_way(process);
    ways_[process].store(way, std::memory_order_relaxed);
  }
  return way == Way::open;
}

bool HostTransport::pull(std::uint32_t process,
                         void* target,
                         std::uintptr_t source,
                         std::size_t bytes) {
  if (is_near(process)) return near_->pull(near_number(process), target, source, bytes);
  return os::read_peer_memory(job_.members[process].pid, target, source, bytes);
}

/// Whether all packets of this process's workers have left. The workers have ended.
bool HostTransport::finish_outgoing() {
  take_returned();
  empty_outboxes();
  link_.progress();
  return waiting_count_.load(std::memory_order_relaxed) == 0 && link_.is_empty();
}

void HostTransport::drop(std::uint32_t slot) {
  termination_.count_taken(0);
  link_.give_back(slot);
}

/// No worker here takes packets; their senders may still wait for credits.
void HostTransport::drop_arrivals() {
  for (const auto& station : stations_) {
    const std::uint32_t tail = station->inbox_tail.load(std::memory_order_acquire);
    for (; station->inbox_head != tail; ++station->inbox_head)
      drop(station->inbox[station->inbox_head % station->inbox.size()]);
  }
  HostLink::Arrival arrival;
  while (link_.take(arrival)) {
    if (TerminationDetector::is_ours(arrival.header.kind)) {
      termination_.take(arrival);
    } else {
      drop(arrival.slot);
    }
  }
  for (std::uint32_t i = 0; near_ != nullptr && i < scheduler_.worker_count(); ++i) {
    scheduler_.worker(i).drop_records([&](const core::Record& record) {
      if (ShmTransport::is_packet(record)) termination_.count_taken(i);
    });
  }
  termination_.tend_at_the_end();
}

void HostTransport::finish() {
  std::int64_t sleep_ns = 1'000;
  const auto pause = [&] {
    drop_arrivals();
    os::sleep_ns(sleep_ns);
    sleep_ns = std::min(2 * sleep_ns, finish_sleep_ns_max);
  };
  while (!finish_outgoing())
    pause();
  job_.api->begin_end(job_.host);
  while (job_.api->has_ended(job_.host) == 0 || !finish_outgoing())
    pause();
  job_.has_ended = true;
}

}  // namespace sorrel::transport
