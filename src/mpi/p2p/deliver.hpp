//! Delivery - the one place where the bytes of a message move into the receiver's buffer.
//!
//! Called on the receiver's worker, in a fiber or not. Never suspends.
#pragma once

#include <cstddef>

#include "mpi/datatype/copy.hpp"
#include "mpi/p2p/request.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

/// Where the data of a message is: a typed buffer of the sender, or packed bytes.
struct MessageData {
  const void* buffer;
  std::size_t count;
  const Datatype* type;
  std::size_t bytes;
};

/// `bytes` packed bytes at `buffer`.
inline MessageData packed_data(const void* buffer, std::size_t bytes) {
  return {.buffer = buffer, .count = bytes, .type = datatype_from_handle(MPI_BYTE), .bytes = bytes};
}

/// The data that a message in the unexpected table stands for.
inline MessageData data_of(const Message& message) {
  if (message.request == nullptr) return packed_data(message.payload, message.bytes);
  const Request& send = *message.request;
  return {.buffer = send.buffer,
          .count = send.element_count,
          .type = send.type,
          .bytes = message.bytes};
}

/// The receive that waits for a message with this envelope, taken from the posted ones.
inline Request* take_posted(RankState& to, const Envelope& envelope) {
  MatchEntry* entry = to.posted.take_for(envelope);
  return entry == nullptr ? nullptr : static_cast<Message*>(entry)->request;
}

/// complete() of a request that has duties.
void complete_with_duties(Request& request);

/// Completes a request on its owner's worker; one that nobody will wait for goes away.
inline void complete(Request& request) {
  if (request.duties.any()) [[unlikely]]
    return complete_with_duties(request);
  request.completion.complete(*request.owner->worker);
}

/// Moves the data of a message that does not fit, or through a datatype with gaps.
void move_data(Request& receive, const void* buffer, std::size_t count, const Datatype& type);

/// What the status of a receive will say when `bytes` bytes of a message fit.
inline void note_arrival(Request& receive, const Envelope& envelope, std::size_t bytes) {
  receive.status_source = envelope.source;
  receive.status_tag = envelope.tag;
  receive.status_bytes = bytes;
}

/// Copies the data into the receive's buffer and completes the receive. Too long a message:
/// MPI_ERR_TRUNCATE.
inline void deliver(Request& receive, const Envelope& envelope, const MessageData& data) {
  note_arrival(receive, envelope, data.bytes);
  const bool fits = data.bytes <= receive.element_count * receive.type->size();
  if (fits && data.type->is_dense() && receive.type->is_dense()) [[likely]] {
    copy_bytes(receive.buffer, data.buffer, data.bytes);
  } else {
    move_data(receive, data.buffer, data.count, *data.type);
  }
  complete(receive);
}

/// As deliver(), from a message that is in no table; then lets its sender go on, or frees its copy.
/// A long one from another worker may be copied by both workers together: it is complete later.
void deliver_and_dispose(Request& receive, Message& message);

/// Tells the sender of a message by reference that its buffer is free again. Called on the
/// receiver's worker.
void finish_send(Request& send, core::Worker& here);

}  // namespace sorrel::mpi
