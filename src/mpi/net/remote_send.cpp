// The sending side of messages between processes.
#include <algorithm>
#include <cstring>

#include "mpi/datatype/copy.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/match/remote.hpp"
#include "mpi/match/send.hpp"
#include "mpi/net/eager_windows.hpp"
#include "mpi/net/packet_words.hpp"
#include "mpi/net/relay.hpp"
#include "mpi/net/remote_message.hpp"
#include "mpi/net/traced_packet.hpp"

namespace sorrel::mpi {

namespace {

using transport::Packet;

Packet packet_to(PacketKind kind,
                 std::int32_t destination,
                 const Envelope& envelope,
                 std::size_t payload_bytes) {
  return {.kind = number_of(kind),
          .words = {static_cast<std::uint32_t>(destination), envelope.context,
                    static_cast<std::uint32_t>(envelope.source),
                    static_cast<std::uint32_t>(envelope.tag)},
          .payload_bytes = static_cast<std::uint32_t>(payload_bytes)};
}

/// Sets the address of the request's data as one run of bytes: in place, or a packed copy.
void fix_data(RemoteSend& send) {
  const Request& request = *send.request;
  send.bytes = request.element_count * request.type->size();
  void* run = single_run(request.buffer, request.element_count, *request.type);
  if (run != nullptr || send.bytes == 0) {
    send.data = static_cast<const std::byte*>(run);
    return;
  }
  send.packed = new std::byte[send.bytes];
  pack(request.buffer, request.element_count, *request.type, send.packed);
  send.data = send.packed;
}

/// On the rank's worker.
void conclude(RemoteSend& send) {
  Request& request = *send.request;
  delete[] send.packed;
  delete &send;
  complete(request);
}

/// The end of the send of a rank that is away. A cancel that is on its way comes back first.
void conclude_away(RemoteSend& send, WorkerState&) {
  send.has_ended = true;
  if (!send.is_cancel_away) conclude(send);
}

/// Counts an awaited answer; the last one completes the request.
void end(RemoteSend& send) {
  SORREL_ASSERT(send.awaited_count != 0, "an answer to a send that is complete");
  if (--send.awaited_count != 0) return;
  RankState& self = *send.request->owner;
  if (self.is_away) [[unlikely]]
    return pass_back(self, send.passage, conclude_away);
  conclude(send);
}

/// Sends a short message that had to wait for the transport.
bool send_eager(PendingSend& pending_send, SendQueue& send_queue, Endpoint to) {
  auto& send = static_cast<RemoteSend&>(pending_send);
  const Packet packet =
      packet_to(PacketKind::eager, send.destination, send.request->message.envelope, send.bytes);
  if (!send_queue.try_send_next(to, packet, send.data)) return false;
  end(send);
  return true;
}

bool send_rts(PendingSend& pending_send, SendQueue& send_queue, Endpoint to) {
  auto& send = static_cast<RemoteSend&>(pending_send);
  const bool may_copy = send.request->mode == SendMode::standard &&
                        send.bytes <= send_queue.world().limits().eager_bytes_max;
  const DataAtSender data{.token = reinterpret_cast<std::uintptr_t>(&send),
                          .address = reinterpret_cast<std::uintptr_t>(send.data),
                          .bytes = send.bytes,
                          .may_copy = may_copy ? 1U : 0U,
                          .unused = 0};
  const Packet packet =
      packet_to(PacketKind::rts, send.destination, send.request->message.envelope, sizeof data);
  return send_queue.try_send_next(to, packet, &data);
}

bool send_data(PendingSend& pending_send, SendQueue& send_queue, Endpoint to) {
  auto& send = static_cast<RemoteSend&>(pending_send);
  const std::size_t bytes_max = send_queue.world().transport()->payload_bytes_max(to.process);
  SORREL_ASSERT(send.pushed_bytes <= send.push_bytes && send.push_bytes <= send.bytes);
  while (send.pushed_bytes < send.push_bytes) {
    const std::size_t bytes = std::min(send.push_bytes - send.pushed_bytes, bytes_max);
    const Packet packet{.kind = number_of(PacketKind::data),
                        .words = {low_word(send.receiver_token), high_word(send.receiver_token),
                                  low_word(send.pushed_bytes), high_word(send.pushed_bytes)},
                        .payload_bytes = static_cast<std::uint32_t>(bytes)};
    if (!send_queue.try_send_next(to, packet, send.data + send.pushed_bytes)) return false;
    send.pushed_bytes += bytes;
  }
  end(send);
  return true;
}

/// The send that a receiver answers.
RemoteSend& send_of(const Packet& packet) {
  auto& send = *reinterpret_cast<RemoteSend*>(joined(packet.words[0], packet.words[1]));
  SORREL_ASSERT(send.request->remote == &send, "the token of a packet is that of no send");
  SORREL_ASSERT(send.send != send_eager, "a message that was sent with its data is answered");
  return send;
}

WorkerState& state_of(void* owner, const core::Worker& worker) {
  return static_cast<World*>(owner)->state_of(worker);
}

void take_fin(void*, core::Worker&, Endpoint, const Packet& packet, const std::byte*) {
  RemoteSend& send = send_of(packet);
  SORREL_ASSERT(send.send == send_rts, "the receiver has asked for the data before");
  end(send);
}

void take_cts(void* owner,
              core::Worker& receiver,
              Endpoint from,
              const Packet& packet,
              const std::byte* payload) {
  RemoteSend& send = send_of(packet);
  std::uint64_t wanted_bytes = 0;
  SORREL_ASSERT(send.send == send_rts, "the receiver has asked for the data before");
  SORREL_ASSERT(packet.payload_bytes == sizeof wanted_bytes);
  std::memcpy(&wanted_bytes, payload, sizeof wanted_bytes);
  send.receiver_token = joined(packet.words[2], packet.words[3]);
  send.push_bytes = wanted_bytes;
  send.pushed_bytes = 0;
  send.send = send_data;
  state_of(owner, receiver).send_queue->send(from, send);
}

void take_credit(
    void* owner, core::Worker& receiver, Endpoint from, const Packet& packet, const std::byte*) {
  state_of(owner, receiver).eager_windows->add(from, packet.words[0]);
}

void take_cancel_answer(void*, core::Worker&, Endpoint, const Packet& packet, const std::byte*) {
  RemoteSend& send = send_of(packet);
  if (packet.words[2] != 0) {
    SORREL_ASSERT(send.send == send_rts && send.awaited_count == 2, "a dropped RTS was answered");
    // The receiver has dropped the RTS: no other answer will come.
    send.request->is_cancelled = true;
    send.awaited_count = 1;
  }
  end(send);
}

}  // namespace

bool try_send_remote(RankState& self, const Comm& comm, const SendArguments& arguments) {
  if (self.is_away) [[unlikely]]
    return false;
  const WorkerState& state = *self.worker_state;
  EagerWindows& windows = *state.eager_windows;
  const std::size_t bytes = arguments.count * arguments.type.size();
  const std::int32_t destination = comm.shared->group()->world_rank(arguments.destination);
  const Endpoint to = self.world->layout().endpoint_of(destination);
  const std::uint32_t cost = EagerWindows::cost_of(bytes);
  if (!windows.has_room(to, bytes, cost)) return false;
  const void* payload = single_run(arguments.buffer, arguments.count, arguments.type);
  if (payload == nullptr && bytes != 0) {
    pack(arguments.buffer, arguments.count, arguments.type, windows.packing_space());
    payload = windows.packing_space();
  }
  const Packet packet =
      packet_to(PacketKind::eager, destination, envelope_of(comm, arguments.tag), bytes);
  if (!state.send_queue->try_send(to, packet, payload)) return false;
  windows.take(to, cost);
  return true;
}

namespace {

/// On the first worker of the rank.
void begin(RemoteSend& send, WorkerState& state) {
  const Request& request = *send.request;
  EagerWindows& windows = *state.eager_windows;
  const Endpoint to = state.world->layout().endpoint_of(send.destination);
  const std::uint32_t cost = EagerWindows::cost_of(send.bytes);
  const bool is_eager =
      request.mode != SendMode::synchronous && windows.has_room(to, send.bytes, cost);
  if (is_eager) windows.take(to, cost);
  send.send = is_eager ? send_eager : send_rts;
  state.send_queue->send(to, send);
}

/// On the first worker of the rank: cancels the send, which may have ended.
void withdraw(RemoteSend& send, WorkerState& state) {
  // An eager message is complete when the transport has room; one that is pushed has matched.
  if (send.send != send_rts || send.awaited_count != 1) return;
  ++send.awaited_count;
  const auto token = reinterpret_cast<std::uintptr_t>(&send);
  // Packets of a pair of workers keep their order: the RTS arrives before the cancel.
  state.send_queue->post(
      state.world->layout().endpoint_of(send.destination),
      packet_to(PacketKind::cancel, send.destination, send.request->message.envelope, sizeof token),
      token);
}

/// The cancel of a rank that is away is back.
void end_cancel(RemoteSend& send, WorkerState&) {
  send.is_cancel_away = false;
  if (send.has_ended) conclude(send);
}

void withdraw_away(RemoteSend& send, WorkerState& state) {
  withdraw(send, state);
  pass_back(*send.request->owner, send.cancel, end_cancel);
}

}  // namespace

void start_remote_send(Request& request) {
  SORREL_ASSERT(is_on_worker_of(*request.owner) && request.kind == Request::Kind::send);
  RankState& self = *request.owner;
  auto* send = new RemoteSend{};
  send->request = &request;
  send->passage.send = send->cancel.send = send;
  request.remote = send;
  send->destination = request.comm->shared->group()->world_rank(request.peer);
  fix_data(*send);
  if (self.is_away) [[unlikely]]
    return pass_to_first(self, send->passage, begin);
  begin(*send, *self.worker_state);
}

void cancel_remote_send(Request& request) {
  RemoteSend& send = *request.remote;
  SORREL_ASSERT(send.request == &request);
  RankState& self = *request.owner;
  if (!self.is_away) return withdraw(send, *self.worker_state);
  if (send.is_cancel_away) return;
  send.is_cancel_away = true;
  pass_to_first(self, send.cancel, withdraw_away);
}

void set_send_handlers(transport::Transport& transport, World& world) {
  set_packet_handler<take_fin>(transport, PacketKind::fin, world);
  set_packet_handler<take_cts>(transport, PacketKind::cts, world);
  set_packet_handler<take_credit>(transport, PacketKind::credit, world);
  set_packet_handler<take_cancel_answer>(transport, PacketKind::cancel_answer, world);
}

}  // namespace sorrel::mpi
