//! Buffered sends - the user attaches a buffer; a send that fits into it never waits for its
//! receive.
//!
//! The attached buffer is only an allowance: its size is accounted as the standard says, the copies
//! are in the library's memory. A rank has one buffer for all communicators. A session may have
//! one, which is used instead by the communicators that are derived from it; each communicator may
//! have its own, which goes before. MPI_BUFFER_AUTOMATIC is an unlimited allowance. Own
//! worker only.
#pragma once

#include <cstddef>

#include "mpi/match/buffered_sends.hpp"
#include "mpi/match/send.hpp"

namespace sorrel::mpi {

/// The buffer of the rank, and that of a communicator; created at first use.
[[nodiscard]] BufferedSends& buffered_sends_of(RankState& self);
[[nodiscard]] BufferedSends& buffered_sends_of(Comm& comm);

/// MPI_ERR_BUFFER if a buffer is already attached.
[[nodiscard]] int attach_buffer(RankState& self,
                                BufferedSends& sends,
                                void* buffer,
                                std::size_t bytes);

/// Waits for the buffered sends, then returns the buffer. May suspend. MPI_ERR_BUFFER if no buffer
/// is attached.
[[nodiscard]] int detach_buffer(RankState& self,
                                BufferedSends& sends,
                                void** buffer,
                                std::size_t* bytes);

/// Waits until every buffered send is complete. May suspend.
void flush_buffer(RankState& self, BufferedSends& sends);

/// A request that is complete when every buffered send is. Never suspends.
[[nodiscard]] Request& start_flush(RankState& self, Comm& comm, BufferedSends& sends);

/// Copies the message and starts sending the copy. Never suspends. MPI_ERR_BUFFER if it does not
/// fit.
[[nodiscard]] int buffered_send(RankState& self, Comm& comm, const SendArguments& arguments);

}  // namespace sorrel::mpi
