#include "mpi/match/shared_copy.hpp"

#include <algorithm>

#include "base/copy_bytes.hpp"
#include "mpi/match/deliver.hpp"

namespace sorrel::mpi {

namespace {

// Below this, one worker has copied the other half before the handoff arrives.
constexpr std::size_t shared_bytes_min = std::size_t{128} << 10;

constexpr std::size_t page_bytes = 4096;

void copy_part(const Request::Handoff& handoff, std::size_t first, std::size_t last) {
  SORREL_ASSERT(first <= last && last <= handoff.request->message.bytes);
  copy_bytes(static_cast<std::byte*>(handoff.receive->buffer) + first,
             static_cast<const std::byte*>(handoff.request->buffer) + first, last - first);
}

Request::Handoff& handoff_of(core::RemoteCall& call) {
  return static_cast<Request::Handoff&>(call);
}

/// On the receiver's worker: the sender's part has been copied.
void run_rest_is_copied(core::Worker& here, core::RemoteCall& call) {
  const Request::Handoff& handoff = handoff_of(call);
  SORREL_ASSERT(handoff.receive->owner->worker == &here);
  complete(*handoff.receive);
  finish_send(*handoff.request, here);
}

/// On the receiver's worker: the sender's worker has ranks to run.
void run_rest_is_declined(core::Worker& here, core::RemoteCall& call) {
  const Request::Handoff& handoff = handoff_of(call);
  copy_part(handoff, handoff.split, handoff.request->message.bytes);
  run_rest_is_copied(here, call);
}

/// On the sender's worker.
void run_copy_rest(core::Worker& here, core::RemoteCall& call) {
  Request::Handoff& handoff = handoff_of(call);
  SORREL_ASSERT(handoff.request->owner->worker == &here && handoff.destination->worker != &here);
  handoff.run = run_rest_is_declined;
  if (!here.has_ready()) {
    copy_part(handoff, handoff.split, handoff.request->message.bytes);
    handoff.run = run_rest_is_copied;
  }
  here.post(*handoff.destination->worker, handoff);
}

}  // namespace

bool can_be_shared(const Request& receive, const Request& send) {
  const std::size_t bytes = send.message.bytes;
  const core::Worker& owner_worker = *send.owner->worker;
  return bytes >= shared_bytes_min && &owner_worker != receive.owner->worker &&
         !owner_worker.seems_asleep() && bytes <= receive.element_count * receive.type->size() &&
         send.type->is_dense() && receive.type->is_dense();
}

void copy_together(Request& receive, Request& send) {
  record_arrival(receive, send.message.envelope, send.message.bytes);
  // Two parts, and the send that MPI_Isendrecv may have added.
  auto& missing = receive.duties.missing_part_count;
  SORREL_ASSERT(missing <= 2, "the receive already has a message in two parts");
  missing = static_cast<std::uint8_t>(std::max<std::uint8_t>(missing, 1) + 1);
  Request::Handoff& handoff = send.handoff;
  handoff.receive = &receive;
  handoff.split = send.message.bytes / 2 / page_bytes * page_bytes;
  handoff.run = run_copy_rest;
  const std::size_t split = handoff.split;
  const void* source = send.buffer;
  receive.owner->worker->post(*send.owner->worker, handoff);
  // The handoff is lent now: it is not read here.
  copy_bytes(receive.buffer, source, split);
  complete(receive);
}

}  // namespace sorrel::mpi
