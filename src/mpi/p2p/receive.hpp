//! Receiving - one message, by whoever sent it or will send it. Arguments are valid; MPI_PROC_NULL
//! is the caller's.
#pragma once

#include <cstddef>

#include "mpi/p2p/request.hpp"

namespace sorrel::mpi {

/// The buffer and the envelope of a receive call.
struct ReceiveArguments {
  void* buffer;
  std::size_t count;
  Datatype& type;
  int source;  ///< A rank or MPI_ANY_SOURCE.
  int tag;     ///< A tag or MPI_ANY_TAG.
};

/// Fills a new receive request; does not start it.
void describe_receive(Request& request,
                      RankState& self,
                      Comm& comm,
                      const ReceiveArguments& arguments);

/// Starts the receive that the request describes; it may be complete on return. Never suspends.
void start_receive(Request& request);

/// As start_receive(), from the message that MPI_Mprobe has set aside.
void start_matched_receive(Request& request, Message& message);

/// Takes a posted receive back: true when it is cancelled, false when it has already matched.
bool cancel_receive(Request& request);

}  // namespace sorrel::mpi
