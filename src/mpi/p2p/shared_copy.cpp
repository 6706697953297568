#include "mpi/p2p/shared_copy.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/p2p/deliver.hpp"

namespace sorrel::mpi {

namespace {

// Below this the other half is copied before the other worker has heard of it.
constexpr std::size_t shared_bytes_min = std::size_t{128} << 10;

constexpr std::size_t page_bytes = 4096;

void copy_part(const Request::Trip& trip, std::size_t first, std::size_t last) {
  std::memcpy(static_cast<std::byte*>(trip.receive->buffer) + first,
              static_cast<const std::byte*>(trip.request->buffer) + first, last - first);
}

Request::Trip& trip_of(core::Notice& notice) {
  return static_cast<Request::Trip&>(notice);
}

/// On the receiver's worker: the sender's part is there.
void run_rest_is_copied(core::Worker& here, core::Notice& notice) {
  const Request::Trip& trip = trip_of(notice);
  complete(*trip.receive);
  finish_send(*trip.request, here);
}

/// On the receiver's worker: the sender's has better things to do.
void run_rest_is_declined(core::Worker& here, core::Notice& notice) {
  const Request::Trip& trip = trip_of(notice);
  copy_part(trip, trip.split, trip.request->message.bytes);
  run_rest_is_copied(here, notice);
}

/// On the sender's worker.
void run_copy_rest(core::Worker& here, core::Notice& notice) {
  Request::Trip& trip = trip_of(notice);
  trip.run = run_rest_is_declined;
  if (!here.has_ready()) {
    copy_part(trip, trip.split, trip.request->message.bytes);
    trip.run = run_rest_is_copied;
  }
  here.post(*trip.destination->worker, trip);
}

}  // namespace

bool can_be_shared(const Request& receive, const Request& send) {
  const std::size_t bytes = send.message.bytes;
  const core::Worker& home = *send.owner->worker;
  return bytes >= shared_bytes_min && &home != receive.owner->worker && !home.seems_asleep() &&
         bytes <= receive.element_count * receive.type->size() && send.type->is_dense() &&
         receive.type->is_dense();
}

void copy_together(Request& receive, Request& send) {
  note_arrival(receive, send.message.envelope, send.message.bytes);
  // Two parts, and the send that MPI_Isendrecv may have added.
  auto& missing = receive.duties.missing_part_count;
  missing = static_cast<std::uint8_t>(std::max<std::uint8_t>(missing, 1) + 1);
  Request::Trip& trip = send.trip;
  trip.receive = &receive;
  trip.split = send.message.bytes / 2 / page_bytes * page_bytes;
  trip.run = run_copy_rest;
  const std::size_t split = trip.split;
  const void* source = send.buffer;
  receive.owner->worker->post(*send.owner->worker, trip);
  // The notice is lent now: nothing of it is read here.
  std::memcpy(receive.buffer, source, split);
  complete(receive);
}

}  // namespace sorrel::mpi
