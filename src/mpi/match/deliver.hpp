//! Delivery - the only place where the bytes of a message are copied into the receiver's buffer.
//!
//! Called on the receiver's worker, in a fiber or not. Never suspends.
#pragma once

#include <cstddef>

#include "mpi/datatype/copy.hpp"
#include "mpi/match/complete.hpp"
#include "mpi/match/traced_message.hpp"

namespace sorrel::mpi {

/// Location of the data of a message: a typed buffer of the sender, or packed bytes.
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

/// The data of a message in the unexpected table.
inline MessageData data_of(const Message& message) {
  if (message.request == nullptr) return packed_data(message.payload, message.bytes);
  const Request& send = *message.request;
  SORREL_ASSERT(send.kind == Request::Kind::send && send.owner->worker != nullptr,
                "the data of a message from another process is not here");
  return {.buffer = send.buffer,
          .count = send.element_count,
          .type = send.type,
          .bytes = message.bytes};
}

/// Copies the data of a message that does not fit, or through a datatype with gaps.
void move_data(Request& receive, const void* buffer, std::size_t count, const Datatype& type);

/// Sets the status fields of a receive into which `bytes` bytes of a message fit.
inline void record_arrival(Request& receive, const Envelope& envelope, std::size_t bytes) {
  SORREL_ASSERT(receive.kind == Request::Kind::receive && !receive.completion.is_done());
  SORREL_ASSERT(!receive.message.is_linked(), "a second message could match it");
  if (receive.owner->worker->tracer() != nullptr) [[unlikely]]
    trace_receive(receive, envelope, bytes);
  receive.status_source = envelope.source;
  receive.status_tag = envelope.tag;
  receive.status_bytes = bytes;
}

/// Copies the data into the receive's buffer and completes the receive. If the message is too long:
/// MPI_ERR_TRUNCATE.
inline void deliver(Request& receive, const Envelope& envelope, const MessageData& data) {
  SORREL_ASSERT(data.bytes == data.count * data.type->size());
  record_arrival(receive, envelope, data.bytes);
  const bool fits = data.bytes <= receive.element_count * receive.type->size();
  if (fits && data.type->is_dense() && receive.type->is_dense()) [[likely]] {
    copy_bytes(receive.buffer, data.buffer, data.bytes);
  } else {
    move_data(receive, data.buffer, data.count, *data.type);
  }
  complete(receive);
}

}  // namespace sorrel::mpi
