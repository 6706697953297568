//! Delivery - the one place where the bytes of a message move into the receiver's buffer.
//!
//! Called on the receiver's worker, in a fiber or not. Never suspends.
#pragma once

#include <cstddef>

#include "mpi/p2p/request.hpp"

namespace sorrel::mpi {

/// Where the data of a message is: a typed buffer of the sender, or packed bytes.
struct MessageData {
  const void* buffer;
  std::size_t count;
  const Datatype* type;
  std::size_t bytes;
};

/// `bytes` packed bytes at `buffer`.
MessageData packed_data(const void* buffer, std::size_t bytes);

/// The data that a message in the unexpected table stands for.
MessageData data_of(const Message& message);

/// Copies the data into the receive's buffer and completes the receive. Too long a message:
/// MPI_ERR_TRUNCATE.
void deliver(Request& receive, const Envelope& envelope, const MessageData& data);

/// As deliver(), from a message that has left the unexpected table; then lets its sender go on, or
/// frees its copy.
void deliver_and_dispose(Request& receive, Message& message);

/// Completes a request on its owner's worker; one that nobody will wait for goes away.
void complete(Request& request);

/// Tells the sender of a message by reference that its buffer is free again. Called on the
/// receiver's worker.
void finish_send(Request& send, core::Worker& here);

}  // namespace sorrel::mpi
