#include "mpi/p2p/deliver.hpp"

#include "mpi/datatype/copy.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/unexpected.hpp"
#include "mpi/p2p/wait.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

MessageData packed_data(const void* buffer, std::size_t bytes) {
  return {.buffer = buffer, .count = bytes, .type = datatype_from_handle(MPI_BYTE), .bytes = bytes};
}

MessageData data_of(const Message& message) {
  if (message.request == nullptr) return packed_data(message.payload, message.bytes);
  const Request& send = *message.request;
  return {.buffer = send.buffer,
          .count = send.element_count,
          .type = send.type,
          .bytes = message.bytes};
}

void deliver(Request& receive, const Envelope& envelope, const MessageData& data) {
  const std::size_t capacity = receive.element_count * receive.type->size();
  receive.status_source = envelope.source;
  receive.status_tag = envelope.tag;
  if (data.bytes > capacity) [[unlikely]] {
    receive.error = MPI_ERR_TRUNCATE;
    // The size that did not fit, for the error's text; the status says what was received.
    receive.truncated_bytes = data.bytes;
  }
  receive.status_bytes = copy(data.buffer, data.count, *data.type, receive.buffer,
                              receive.element_count, *receive.type);
  complete(receive);
}

void deliver_and_dispose(Request& receive, Message& message) {
  core::Worker& here = *receive.owner->worker;
  Request* sender = message.request;
  deliver(receive, message.envelope, data_of(message));
  if (sender != nullptr) {
    finish_send(*sender, here);
  } else {
    free_copy(here.pool(), message);
  }
}

void complete(Request& request) {
  if (request.owns_buffer) [[unlikely]]
    free_owned_buffer(request);
  if (request.main_part != nullptr) [[unlikely]] {
    Request& main_part = *request.main_part;
    recycle(request);
    complete(main_part);
    return;
  }
  if (request.missing_part_count > 1) [[unlikely]] {
    --request.missing_part_count;
    return;
  }
  request.completion.complete(*request.owner->worker);
  if (request.is_released) [[unlikely]]
    recycle(request);
}

void finish_send(Request& send, core::Worker& here) {
  core::Worker& home = *send.owner->worker;
  if (&home == &here) {
    complete(send);
    return;
  }
  send.trip.run = [](core::Worker&, core::Notice& notice) {
    complete(*static_cast<Request::Trip&>(notice).request);
  };
  here.post(home, send.trip);
}

}  // namespace sorrel::mpi
