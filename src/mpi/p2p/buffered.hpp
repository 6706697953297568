//! Buffered sends - the user attaches a buffer, and sends that fit into it never wait for their
//! receive.
//!
//! The attached buffer is an allowance: its size is accounted as the standard says, the copies live
//! in our own memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/p2p/send.hpp"

namespace sorrel::mpi {

/// The attached buffer of one rank and the sends that use it.
struct BufferedSends {
  void* buffer = nullptr;
  std::size_t bytes = 0;
  std::size_t bytes_in_use = 0;
  bool is_attached = false;
  core::Fiber* flusher = nullptr;
};

/// MPI_ERR_BUFFER when one is attached already.
[[nodiscard]] int attach_buffer(RankState& self, void* buffer, std::size_t bytes);

/// Waits for the buffered sends, then gives the buffer back. May suspend. MPI_ERR_BUFFER when none
/// is attached.
[[nodiscard]] int detach_buffer(RankState& self, void** buffer, std::size_t* bytes);

/// Waits until every buffered send has left. May suspend.
void flush_buffer(RankState& self);

/// Copies the message and starts sending the copy. Never suspends. MPI_ERR_BUFFER when it does not
/// fit.
[[nodiscard]] int buffered_send(RankState& self, Comm& comm, const SendArguments& arguments);

/// A send from our own copy is complete: frees the copy and, of a buffered send, its share of the
/// attached buffer.
void free_owned_buffer(Request& request);

}  // namespace sorrel::mpi
