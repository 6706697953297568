#include "mpi/p2p/send.hpp"

#include <array>
#include <cstring>

#include "mpi/datatype/copy.hpp"
#include "mpi/p2p/deliver.hpp"
#include "mpi/p2p/unexpected.hpp"
#include "mpi/p2p/wait.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// The receive that waits for this message, taken from the posted ones.
Request* take_posted(RankState& to, const Envelope& envelope) {
  MatchEntry* entry = to.posted.take_for(envelope);
  return entry == nullptr ? nullptr : static_cast<Message*>(entry)->request;
}

// Words of an inline record: destination (rank of the job), context, source, tag.
void run_inline_message(core::Worker& worker,
                        const core::Record& record,
                        const std::byte* payload) {
  RankState& to = static_cast<WorkerState*>(worker.user())
                      ->world->rank(static_cast<std::int32_t>(record.words[0]));
  const Envelope envelope{.context = record.words[1],
                          .source = static_cast<std::int32_t>(record.words[2]),
                          .tag = static_cast<std::int32_t>(record.words[3])};
  const MessageData data = packed_data(payload, record.payload_bytes);
  if (Request* receive = take_posted(to, envelope)) {
    deliver(*receive, envelope, data);
    return;
  }
  const bool added = add_copy(to, envelope, data, core::MessagePool::WhenFull::exceed);
  SORREL_CHECK(added, "no memory for a message of %u bytes", record.payload_bytes);
}

/// A message by reference arrives at the worker of its destination.
void run_referenced_message(core::Worker& worker, core::Notice& notice) {
  auto& trip = static_cast<Request::Trip&>(notice);
  Request& request = *trip.request;
  Message& message = request.message;
  RankState& to = *trip.destination;
  if (Request* receive = take_posted(to, message.envelope)) {
    deliver(*receive, message.envelope, data_of(message));
    finish_send(request, worker);
    return;
  }
  // A standard send may not depend on its receive as long as there is room: that is what programs
  // expect.
  const bool may_copy =
      request.mode == SendMode::standard && message.bytes <= to.world->limits().eager_bytes_max;
  if (may_copy &&
      add_copy(to, message.envelope, data_of(message), core::MessagePool::WhenFull::fail)) {
    finish_send(request, worker);
    return;
  }
  add_unexpected(to, message);
}

/// Copies the message into the mailbox of another worker; false when it must go by reference.
bool try_send_inline(RankState& self,
                     RankState& to,
                     const Envelope& envelope,
                     const SendArguments& arguments,
                     std::size_t bytes) {
  constexpr std::size_t stack_bytes = 4096;
  if (bytes > self.world->limits().inline_bytes_max || to.worker->pool().is_congested())
    return false;
  const void* payload = arguments.buffer;
  std::array<std::byte, stack_bytes> packed;
  if (!arguments.type.is_dense() && bytes != 0) {
    copy(arguments.buffer, arguments.count, arguments.type, packed.data(), bytes,
         *datatype_from_handle(MPI_BYTE));
    payload = packed.data();
  }
  const core::Record record{.run = run_inline_message,
                            .words = {static_cast<std::uint32_t>(to.world_rank), envelope.context,
                                      static_cast<std::uint32_t>(envelope.source),
                                      static_cast<std::uint32_t>(envelope.tag)},
                            .payload_bytes = static_cast<std::uint32_t>(bytes)};
  return self.worker->try_post(*to.worker, record, payload);
}

Envelope envelope_of(const Comm& comm, int tag) {
  return {.context = comm.shared->context(), .source = comm.rank, .tag = tag};
}

/// Leaves the data with the sender and makes the message known at its destination.
void send_by_reference(Request& request,
                       RankState& to,
                       const Envelope& envelope,
                       std::size_t bytes) {
  request.message.envelope = envelope;
  request.message.bytes = bytes;
  request.message.request = &request;
  request.trip.request = &request;
  request.trip.destination = &to;
  RankState& self = *request.owner;
  if (to.worker == self.worker) {
    add_unexpected(to, request.message);
  } else {
    request.trip.run = run_referenced_message;
    self.worker->post(*to.worker, request.trip);
  }
}

/// Every way that needs no request: true when the buffer is free again.
bool try_send_at_once(RankState& self,
                      RankState& to,
                      const Envelope& envelope,
                      const SendArguments& arguments,
                      std::size_t bytes,
                      SendMode mode) {
  if (to.worker == self.worker) {
    Request* receive = take_posted(to, envelope);
    if (receive == nullptr) return false;
    deliver(*receive, envelope,
            {.buffer = arguments.buffer,
             .count = arguments.count,
             .type = &arguments.type,
             .bytes = bytes});
    return true;
  }
  return mode != SendMode::synchronous && try_send_inline(self, to, envelope, arguments, bytes);
}

}  // namespace

void describe_send(
    Request& request, RankState& self, Comm& comm, const SendArguments& arguments, SendMode mode) {
  request.kind = Request::Kind::send;
  request.mode = mode;
  request.owner = &self;
  request.comm = &comm;
  request.buffer = const_cast<void*>(arguments.buffer);
  request.element_count = arguments.count;
  request.type = &arguments.type;
  request.peer = arguments.destination;
  request.tag = arguments.tag;
}

void send(RankState& self, Comm& comm, const SendArguments& arguments, SendMode mode) {
  RankState& to = comm.shared->member(arguments.destination);
  const Envelope envelope = envelope_of(comm, arguments.tag);
  const std::size_t bytes = arguments.count * arguments.type.size();
  if (try_send_at_once(self, to, envelope, arguments, bytes, mode)) return;
  const bool may_copy = to.worker == self.worker && mode != SendMode::synchronous &&
                        bytes <= self.world->limits().eager_bytes_max;
  const MessageData data{.buffer = arguments.buffer,
                         .count = arguments.count,
                         .type = &arguments.type,
                         .bytes = bytes};
  if (may_copy && add_copy(to, envelope, data, core::MessagePool::WhenFull::fail)) return;
  Request request;
  describe_send(request, self, comm, arguments, mode);
  send_by_reference(request, to, envelope, bytes);
  wait_for(request);
}

bool try_send(RankState& self, Comm& comm, const SendArguments& arguments, SendMode mode) {
  RankState& to = comm.shared->member(arguments.destination);
  const std::size_t bytes = arguments.count * arguments.type.size();
  return try_send_at_once(self, to, envelope_of(comm, arguments.tag), arguments, bytes, mode);
}

void start_send_by_reference(Request& request) {
  RankState& to = request.comm->shared->member(request.peer);
  const std::size_t bytes = request.element_count * request.type->size();
  send_by_reference(request, to, envelope_of(*request.comm, request.tag), bytes);
}

void start_send(Request& request) {
  const SendArguments arguments{.buffer = request.buffer,
                                .count = request.element_count,
                                .type = *request.type,
                                .destination = request.peer,
                                .tag = request.tag};
  if (try_send(*request.owner, *request.comm, arguments, request.mode)) {
    complete(request);
  } else {
    start_send_by_reference(request);
  }
}

}  // namespace sorrel::mpi
