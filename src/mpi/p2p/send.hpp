//! Sending - one message from one rank to another, by the shortest way there is.
//!
//! To a rank of the same worker: straight into its posted receive, else copied aside (blocking
//! sends) or left with the sender by reference. To another worker: short ones as a copy in the
//! mailbox, long ones by reference. README.md has the protocol. Arguments are valid: the caller has
//! checked them. MPI_PROC_NULL is the caller's, too.
#pragma once

#include <cstddef>

#include "mpi/p2p/request.hpp"

namespace sorrel::mpi {

/// The message of a send call.
struct SendArguments {
  const void* buffer;
  std::size_t count;
  Datatype& type;
  int destination;
  int tag;
};

/// Sends and waits until the buffer may be reused. May suspend.
void send(RankState& self, Comm& comm, const SendArguments& arguments, SendMode mode);

/// Sends if that needs neither waiting nor a request: true when the buffer may be reused. Never
/// suspends.
[[nodiscard]] bool try_send(RankState& self,
                            Comm& comm,
                            const SendArguments& arguments,
                            SendMode mode);

/// Leaves the data with the request and makes the message known at its destination: what remains
/// when try_send() has failed. Never suspends.
void start_send_by_reference(Request& request);

/// Starts the send that the request describes; it may be complete on return. Never suspends.
void start_send(Request& request);

/// Fills a new send request; does not start it.
void describe_send(
    Request& request, RankState& self, Comm& comm, const SendArguments& arguments, SendMode mode);

}  // namespace sorrel::mpi
