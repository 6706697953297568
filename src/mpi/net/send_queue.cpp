#include "mpi/net/send_queue.hpp"

#include <algorithm>

#include "mpi/comm/world.hpp"
#include "mpi/net/traced_packet.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"

namespace sorrel::mpi {

namespace {

// A receiver that runs makes room within microseconds; for one that does not run, the retries
// become rare.
constexpr std::int64_t delay_ns_min = 1'000;
constexpr std::int64_t delay_ns_max = 64'000;

/// A small unsent packet.
struct WaitingPacket : PendingSend {
  transport::Packet packet;
  std::uint64_t payload;
};

}  // namespace

SendQueue::SendQueue(World& world, core::Worker& worker)
    : world_(world),
      worker_(worker),
      transport_(*world.transport()),
      layout_(world.layout()),
      destinations_(layout_.endpoint_count()) {
  retry_.send_queue = this;
  retry_.run = [](core::Worker&, core::Timer& timer) {
    SendQueue& send_queue = *static_cast<Retry&>(timer).send_queue;
    send_queue.is_armed_ = false;
    send_queue.delay_ns_ =
        send_queue.flush() ? delay_ns_min : std::min(2 * send_queue.delay_ns_, delay_ns_max);
    if (send_queue.waiting_destination_count_ != 0) send_queue.arm();
    SORREL_AUDIT_INVARIANTS(send_queue);
  };
}

bool SendQueue::try_send_next(Endpoint to, const transport::Packet& packet, const void* payload) {
  SORREL_ASSERT(&worker_ == core::Worker::current());
  if (worker_.tracer() != nullptr) [[unlikely]]
    return try_send_traced(to, packet, payload);
  const bool is_sent = transport_.try_send(worker_, to, packet, payload);
  has_sent_ = has_sent_ || is_sent;
  return is_sent;
}

/// The time of its record is that before the packet can arrive.
bool SendQueue::try_send_traced(Endpoint to, const transport::Packet& packet, const void* payload) {
  const trace::Record record = record_of_send(world_.endpoint_of(worker_), to, packet);
  const bool is_sent = transport_.try_send(worker_, to, packet, payload);
  if (is_sent) worker_.tracer()->add(record);
  has_sent_ = has_sent_ || is_sent;
  return is_sent;
}

void SendQueue::send(Endpoint to, PendingSend& pending_send) {
  Destination& destination = destination_of(to);
  pending_send.next = nullptr;
  if (destination.first != nullptr) {
    SORREL_ASSERT(destination.last != &pending_send, "queued twice");
    destination.last->next = &pending_send;
    destination.last = &pending_send;
    return;
  }
  if (pending_send.send(pending_send, *this, to)) return;
  destination.first = destination.last = &pending_send;
  ++waiting_destination_count_;
  if (is_armed_) return;
  delay_ns_ = delay_ns_min;
  arm();
  SORREL_AUDIT_INVARIANTS(*this);
}

void SendQueue::post(Endpoint to, const transport::Packet& packet, std::uint64_t payload) {
  SORREL_ASSERT(packet.payload_bytes <= sizeof payload);
  if (try_send(to, packet, &payload)) return;
  auto* waiting = new WaitingPacket;
  waiting->packet = packet;
  waiting->payload = payload;
  waiting->send = [](PendingSend& self, SendQueue& send_queue, Endpoint endpoint) {
    auto* sent = static_cast<WaitingPacket*>(&self);
    if (!send_queue.try_send_next(endpoint, sent->packet, &sent->payload)) return false;
    delete sent;
    return true;
  };
  send(to, *waiting);
}

void SendQueue::arm() {
  SORREL_ASSERT(!is_armed_, "the timer is in the worker's queue");
  is_armed_ = true;
  retry_.due_ns = worker_.now_ns() + delay_ns_;
  worker_.add_timer(retry_);
}

/// Returns whether any packet was sent.
bool SendQueue::flush() {
  has_sent_ = false;
  for (std::uint32_t i = 0; i < destinations_.size(); ++i) {
    Destination& destination = destinations_[i];
    if (destination.first == nullptr) continue;
    const Endpoint to{.process = i / layout_.worker_count(), .worker = i % layout_.worker_count()};
    while (destination.first != nullptr) {
      PendingSend& pending_send = *destination.first;
      // Read first: after the send the object may be gone.
      PendingSend* next = pending_send.next;
      if (!pending_send.send(pending_send, *this, to)) break;
      destination.first = next;
    }
    SORREL_ASSERT(waiting_destination_count_ != 0);
    if (destination.first == nullptr) --waiting_destination_count_;
  }
  return has_sent_;
}

void SendQueue::check_invariants() const {
  std::uint32_t waiting = 0;
  for (const Destination& destination : destinations_) {
    if (destination.first == nullptr) continue;
    ++waiting;
    const PendingSend* last = destination.first;
    while (last->next != nullptr)
      last = last->next;
    SORREL_CHECK(last == destination.last);
  }
  SORREL_CHECK(waiting == waiting_destination_count_, "%u wait, counted as %u", waiting,
               waiting_destination_count_);
  SORREL_CHECK(is_armed_ || waiting == 0);
}

void SendQueue::drain() {
  const std::int64_t give_up_ns = os::monotonic_ns() + drain_ns_max;
  while (waiting_destination_count_ != 0 && os::monotonic_ns() < give_up_ns) {
    if (!flush()) os::yield_core();
  }
}

}  // namespace sorrel::mpi
