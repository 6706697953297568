#include "mpi/outlet.hpp"

#include <algorithm>

#include "mpi/world.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"

namespace sorrel::mpi {

namespace {

// A receiver that runs makes room within microseconds; for one that does not run, the retries
// become rare.
constexpr std::int64_t delay_ns_min = 1'000;
constexpr std::int64_t delay_ns_max = 64'000;

/// A small unsent packet.
struct WaitingPacket : Outgoing {
  transport::Packet packet;
  std::uint64_t payload;
};

}  // namespace

Outlet::Outlet(World& world, core::Worker& worker)
    : world_(world),
      worker_(worker),
      transport_(*world.transport()),
      layout_(world.layout()),
      ways_(layout_.endpoint_count()) {
  retry_.outlet = this;
  retry_.run = [](core::Worker&, core::Timer& timer) {
    Outlet& outlet = *static_cast<Retry&>(timer).outlet;
    outlet.is_armed_ = false;
    outlet.delay_ns_ = outlet.flush() ? delay_ns_min : std::min(2 * outlet.delay_ns_, delay_ns_max);
    if (outlet.waiting_way_count_ != 0) outlet.arm();
  };
}

bool Outlet::try_send_next(Endpoint to, const transport::Packet& packet, const void* payload) {
  const bool is_sent = transport_.try_send(worker_, to, packet, payload);
  has_sent_ = has_sent_ || is_sent;
  return is_sent;
}

void Outlet::send(Endpoint to, Outgoing& outgoing) {
  Way& way = way_to(to);
  outgoing.next = nullptr;
  if (way.first != nullptr) {
    way.last->next = &outgoing;
    way.last = &outgoing;
    return;
  }
  if (outgoing.send(outgoing, *this, to)) return;
  way.first = way.last = &outgoing;
  ++waiting_way_count_;
  if (is_armed_) return;
  delay_ns_ = delay_ns_min;
  arm();
}

void Outlet::post(Endpoint to, const transport::Packet& packet, std::uint64_t payload) {
  SORREL_ASSERT(packet.payload_bytes <= sizeof payload);
  if (try_send(to, packet, &payload)) return;
  auto* waiting = new WaitingPacket;
  waiting->packet = packet;
  waiting->payload = payload;
  waiting->send = [](Outgoing& self, Outlet& outlet, Endpoint place) {
    auto* sent = static_cast<WaitingPacket*>(&self);
    if (!outlet.try_send_next(place, sent->packet, &sent->payload)) return false;
    delete sent;
    return true;
  };
  send(to, *waiting);
}

void Outlet::arm() {
  is_armed_ = true;
  retry_.due_ns = worker_.now_ns() + delay_ns_;
  worker_.add_timer(retry_);
}

/// Returns whether any packet was sent.
bool Outlet::flush() {
  has_sent_ = false;
  for (std::uint32_t i = 0; i < ways_.size(); ++i) {
    Way& way = ways_[i];
    if (way.first == nullptr) continue;
    const Endpoint to{.process = i / layout_.worker_count(), .worker = i % layout_.worker_count()};
    while (way.first != nullptr) {
      Outgoing& outgoing = *way.first;
      // Read first: after the send the object may be gone.
      Outgoing* next = outgoing.next;
      if (!outgoing.send(outgoing, *this, to)) break;
      way.first = next;
    }
    if (way.first == nullptr) --waiting_way_count_;
  }
  return has_sent_;
}

void Outlet::drain() {
  const std::int64_t give_up_ns = os::monotonic_ns() + drain_ns_max;
  while (waiting_way_count_ != 0 && os::monotonic_ns() < give_up_ns) {
    if (!flush()) os::yield_core();
  }
}

}  // namespace sorrel::mpi
