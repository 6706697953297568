// The receiving side of messages between processes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "base/copy_bytes.hpp"
#include "mpi/datatype/copy.hpp"
#include "mpi/match/arrival.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/match/remote.hpp"
#include "mpi/match/unexpected.hpp"
#include "mpi/net/eager_windows.hpp"
#include "mpi/net/packet_words.hpp"
#include "mpi/net/relay.hpp"
#include "mpi/net/remote_message.hpp"
#include "mpi/net/traced_packet.hpp"
#include "os/clock.hpp"

namespace sorrel::mpi {

namespace {

using transport::Packet;

Envelope envelope_in(const Packet& packet) {
  return {.context = packet.words[1],
          .source = static_cast<std::int32_t>(packet.words[2]),
          .tag = static_cast<std::int32_t>(packet.words[3])};
}

/// The rank to which a packet is addressed, one of the receiving worker.
RankState& destination_of(void* owner, const core::Worker& receiver, const Packet& packet) {
  RankState& to = static_cast<World*>(owner)->rank(static_cast<std::int32_t>(packet.words[0]));
  SORREL_ASSERT(to.worker == &receiver);
  return to;
}

void send_fin(SendQueue& send_queue, Endpoint to, const DataAtSender& data) {
  send_queue.post(to,
                  {.kind = number_of(PacketKind::fin),
                   .words = {low_word(data.token), high_word(data.token), 0, 0}},
                  0);
}

/// Data that its reader uses late, and that is received at its final address.
bool is_read_late(const ArrivingData& into) {
  return into.receive != nullptr && into.unpacked_from == nullptr &&
         into.receive->comm->is_read_late;
}

void pull(World& world, Endpoint from, const DataAtSender& data, const ArrivingData& into) {
  if (into.bytes == 0) return;
  transport::Transport& transport = *world.transport();
  const bool is_here =
      is_read_late(into)
          ? transport.pull_past_caches(from.process, into.target, data.address, into.bytes)
          : transport.pull(from.process, into.target, data.address, into.bytes);
  if (is_here) return;
  // The launcher knows how the process ended: time for it to report that, and to end this one.
  constexpr std::int64_t launcher_grace_ns = 1'000'000'000;
  os::sleep_ns(launcher_grace_ns);
  char text[120];
  std::snprintf(
      text, sizeof text,
      "cannot read a message from process %u: the process has ended, or the buffer of the "
      "message is not mapped there",
      from.process);
  world.job().end_job(nullptr, 1, text);
}

/// Sets the fields of the status; returns how many bytes fit.
std::size_t describe_arrival(Request& receive, const Envelope& envelope, std::size_t bytes) {
  const std::size_t fitting = std::min(bytes, receive.element_count * receive.type->size());
  record_arrival(receive, envelope, fitting);
  if (fitting < bytes) {
    receive.error = MPI_ERR_TRUNCATE;
    receive.truncated_bytes = bytes;
  }
  return fitting;
}

/// The receive's buffer when it is one run of bytes, else space to unpack from.
struct Target {
  Target(const Request& receive, std::size_t bytes)
      : run(single_run(receive.buffer, receive.element_count, *receive.type)) {
    if (run == nullptr) space = new std::byte[bytes];
  }

  [[nodiscard]] std::byte* data() const {
    return run != nullptr ? static_cast<std::byte*>(run) : space;
  }

  void* run;
  std::byte* space = nullptr;
};

/// Completes a receive whose data has arrived.
void finish(Request& receive, std::byte* unpacked_from, std::size_t bytes) {
  if (unpacked_from != nullptr) {
    unpack(unpacked_from, bytes, receive.buffer, receive.element_count, *receive.type);
    delete[] unpacked_from;
  }
  complete(receive);
}

/// Called when the last byte is at its address.
void conclude_arrival(const ArrivingData& arrived) {
  if (arrived.receive != nullptr) {
    finish(*arrived.receive, arrived.unpacked_from, arrived.bytes);
    return;
  }
  SORREL_ASSERT(arrived.message->is_arriving, "the data of a message has arrived twice");
  arrived.message->is_arriving = false;
  if (arrived.message->matched != nullptr)
    deliver_remote(*arrived.message->matched, *arrived.message);
}

/// Lets the sender push its data.
void send_cts(SendQueue& send_queue,
              Endpoint from,
              const DataAtSender& data,
              const ArrivingData& into) {
  ++into.rank->arriving_count;
  const auto token = reinterpret_cast<std::uintptr_t>(new ArrivingData(into));
  send_queue.post(
      from,
      {.kind = number_of(PacketKind::cts),
       .words = {low_word(data.token), high_word(data.token), low_word(token), high_word(token)},
       .payload_bytes = sizeof(std::uint64_t)},
      into.bytes);
}

void pull_now(World& world,
              SendQueue& send_queue,
              Endpoint from,
              const DataAtSender& data,
              const ArrivingData& into) {
  pull(world, from, data, into);
  send_fin(send_queue, from, data);
  conclude_arrival(into);
}

/// Waits as long as a network would take.
void pull_later(World& world,
                SendQueue& send_queue,
                Endpoint from,
                const DataAtSender& data,
                const ArrivingData& into,
                std::int64_t due_ns) {
  auto* pulled = new PulledData{};
  pulled->due_ns = due_ns;
  pulled->run = [](core::Worker&, core::Timer& timer) {
    const std::unique_ptr<PulledData> due(static_cast<PulledData*>(&timer));
    --due->arriving.rank->arriving_count;
    pull_now(*due->world, *due->send_queue, due->from, due->data, due->arriving);
  };
  ++into.rank->arriving_count;
  pulled->arriving = into;
  pulled->world = &world;
  pulled->send_queue = &send_queue;
  pulled->from = from;
  pulled->data = data;
  send_queue.worker().add_timer(*pulled);
}

/// Gets data that is with its sender, by pull or push.
void get(World& world,
         SendQueue& send_queue,
         Endpoint from,
         const DataAtSender& data,
         const ArrivingData& into) {
  transport::Transport& transport = *world.transport();
  if (into.bytes != 0 && !transport.can_pull(from.process)) {
    send_cts(send_queue, from, data, into);
    return;
  }
  const std::int64_t due_ns =
      into.bytes == 0 ? 0 : transport.pull_due_ns(send_queue.worker(), from.process, into.bytes);
  if (due_ns == 0) {
    pull_now(world, send_queue, from, data, into);
  } else {
    pull_later(world, send_queue, from, data, into, due_ns);
  }
}

/// Gets the data of a rendezvous message into the receive that has matched it.
void fetch(Request& receive, const Envelope& envelope, Endpoint from, const DataAtSender& data) {
  const RankState& self = *receive.owner;
  SORREL_ASSERT(is_on_worker_of(self) && from.process != self.world->own_process());
  const std::size_t bytes = describe_arrival(receive, envelope, data.bytes);
  const Target target(receive, bytes);
  get(*self.world, *self.worker_state->send_queue, from, data,
      {.rank = receive.owner,
       .receive = &receive,
       .message = nullptr,
       .target = target.data(),
       .unpacked_from = target.space,
       .bytes = bytes,
       .arrived_bytes = 0});
}

void take_data(void*, core::Worker&, Endpoint, const Packet& packet, const std::byte* payload) {
  auto& pushed = *reinterpret_cast<ArrivingData*>(joined(packet.words[0], packet.words[1]));
  const std::uint64_t offset = joined(packet.words[2], packet.words[3]);
  SORREL_ASSERT(offset == pushed.arrived_bytes, "a piece of data is missing, or came twice");
  SORREL_ASSERT(packet.payload_bytes <= pushed.bytes - offset, "more data than was asked for");
  copy_bytes(pushed.target + offset, payload, packet.payload_bytes);
  pushed.arrived_bytes += packet.payload_bytes;
  if (pushed.arrived_bytes != pushed.bytes) return;
  SORREL_ASSERT(pushed.rank->arriving_count > 0 && is_on_worker_of(*pushed.rank));
  --pushed.rank->arriving_count;
  conclude_arrival(pushed);
  delete &pushed;
}

/// A message with room for its data, in a buffer of the pool; null if the pool is full.
RemoteMessage* make_copy_space(core::MessagePool& pool,
                               const Envelope& envelope,
                               std::size_t bytes,
                               core::MessagePool::WhenFull when_full) {
  void* buffer = pool.take(remote_header_bytes + bytes, when_full);
  if (buffer == nullptr) return nullptr;
  auto* message = new (buffer) RemoteMessage;
  message->envelope = envelope;
  message->bytes = bytes;
  message->payload = static_cast<std::byte*>(buffer) + remote_header_bytes;
  message->is_copy = true;
  return message;
}

void enter(RankState& to, RemoteMessage& message, Endpoint from) {
  message.request = to.world->remote_sender();
  message.from = from;
  add_unexpected(to, message);
}

void take_eager(void* owner,
                core::Worker& worker,
                Endpoint from,
                const Packet& packet,
                const std::byte* payload) {
  RankState& to = destination_of(owner, worker, packet);
  const Envelope envelope = envelope_in(packet);
  if (Request* receive = take_posted(to, envelope)) {
    deliver(*receive, envelope, packed_data(payload, packet.payload_bytes));
    return_credit(to, from, EagerWindows::cost_of(packet.payload_bytes));
    return;
  }
  RemoteMessage* message = make_copy_space(worker.pool(), envelope, packet.payload_bytes,
                                           core::MessagePool::WhenFull::exceed);
  SORREL_CHECK(message != nullptr, "no memory for a message of %u bytes", packet.payload_bytes);
  copy_bytes(message->payload, payload, packet.payload_bytes);
  message->cost = EagerWindows::cost_of(packet.payload_bytes);
  enter(to, *message, from);
}

/// Takes a copy of a message that programs expect to be buffered; false if the pool is full.
bool try_copy_now(RankState& to,
                  const Envelope& envelope,
                  Endpoint from,
                  const DataAtSender& data) {
  if (data.may_copy == 0) return false;
  RemoteMessage* message =
      make_copy_space(to.worker->pool(), envelope, data.bytes, core::MessagePool::WhenFull::fail);
  if (message == nullptr) return false;
  message->is_arriving = true;
  get(*to.world, *to.worker_state->send_queue, from, data,
      {.rank = &to,
       .receive = nullptr,
       .message = message,
       .target = message->payload,
       .unpacked_from = nullptr,
       .bytes = data.bytes,
       .arrived_bytes = 0});
  enter(to, *message, from);
  return true;
}

void take_rts(void* owner,
              core::Worker& worker,
              Endpoint from,
              const Packet& packet,
              const std::byte* payload) {
  RankState& to = destination_of(owner, worker, packet);
  const Envelope envelope = envelope_in(packet);
  DataAtSender data;
  SORREL_ASSERT(packet.payload_bytes == sizeof data);
  std::memcpy(&data, payload, sizeof data);
  if (Request* receive = take_posted(to, envelope)) {
    fetch(*receive, envelope, from, data);
    return;
  }
  if (try_copy_now(to, envelope, from, data)) return;
  auto* message = new RendezvousMessage;
  message->envelope = envelope;
  message->bytes = data.bytes;
  message->data = data;
  enter(to, *message, from);
}

/// Cancels a send: drops the message unless a receive has matched it or it was copied.
void take_cancel(void* owner,
                 core::Worker& worker,
                 Endpoint from,
                 const Packet& packet,
                 const std::byte* payload) {
  RankState& to = destination_of(owner, worker, packet);
  std::uint64_t token = 0;
  SORREL_ASSERT(packet.payload_bytes == sizeof token);
  std::memcpy(&token, payload, sizeof token);
  MatchEntry* found = to.unexpected.find_if(envelope_in(packet), [&](const MatchEntry& entry) {
    const auto& message = static_cast<const Message&>(entry);
    if (!is_remote(message)) return false;
    const auto& remote = static_cast<const RemoteMessage&>(message);
    return !remote.is_copy && remote.from == from &&
           static_cast<const RendezvousMessage&>(remote).data.token == token;
  });
  if (found != nullptr) {
    to.unexpected.remove(*found);
    dispose_remote(to, static_cast<Message&>(*found));
  }
  to.worker_state->send_queue->post(
      from,
      {.kind = number_of(PacketKind::cancel_answer),
       .words = {low_word(token), high_word(token), found != nullptr ? 1U : 0U, 0}},
      0);
}

}  // namespace

bool is_copied(const Message& message) {
  if (message.request == nullptr) return true;
  if (!is_remote(message)) return false;
  const auto& remote = static_cast<const RemoteMessage&>(message);
  return remote.is_copy && !remote.is_arriving;
}

void dispose_remote(RankState& to, Message& message) {
  auto& remote = static_cast<RemoteMessage&>(message);
  SORREL_ASSERT(message.header.kind == ObjectKind::message, "freed twice");
  SORREL_ASSERT(!message.is_linked(), "a receive could still match it");
  message.header.kind = ObjectKind::freed;
  if (!remote.is_copy) {
    delete &static_cast<RendezvousMessage&>(remote);
    return;
  }
  // Data in transit must find its buffer: the pool outlives it.
  if (remote.is_arriving) return;
  if (remote.cost != 0) return_credit(to, remote.from, remote.cost);
  to.worker->pool().give_back(&message, remote_header_bytes + message.bytes);
}

void discard_remote(RankState& to, Message& message) {
  static_cast<RemoteMessage&>(message).cost = 0;
  dispose_remote(to, message);
}

void pass_remote_copy(core::MessagePool& from, core::MessagePool& to, const Message& message) {
  const auto& remote = static_cast<const RemoteMessage&>(message);
  SORREL_ASSERT(!remote.is_arriving);
  if (remote.is_copy) from.pass_on(to, remote_header_bytes + message.bytes);
}

void deliver_remote(Request& receive, Message& message) {
  auto& remote = static_cast<RemoteMessage&>(message);
  RankState& self = *receive.owner;
  if (remote.is_arriving) {
    SORREL_ASSERT(remote.is_copy && remote.matched == nullptr, "two receives have matched it");
    remote.matched = &receive;
    return;
  }
  if (remote.is_copy) {
    deliver(receive, message.envelope, packed_data(message.payload, message.bytes));
  } else {
    fetch(receive, message.envelope, remote.from, static_cast<RendezvousMessage&>(remote).data);
  }
  dispose_remote(self, message);
}

void set_message_handlers(transport::Transport& transport, World& world) {
  set_packet_handler<take_for_rank<take_eager>>(transport, PacketKind::eager, world);
  set_packet_handler<take_for_rank<take_rts>>(transport, PacketKind::rts, world);
  set_packet_handler<take_data>(transport, PacketKind::data, world);
  set_packet_handler<take_for_rank<take_cancel>>(transport, PacketKind::cancel, world);
  set_send_handlers(transport, world);
}

}  // namespace sorrel::mpi
