//! Receive - one message from any kind of sender. Arguments are valid; MPI_PROC_NULL is handled by
//! the caller.
#pragma once

#include <cstddef>

#include "mpi/match/arrival.hpp"

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
inline void describe_receive(Request& request,
                             RankState& self,
                             Comm& comm,
                             const ReceiveArguments& arguments) {
  SORREL_ASSERT(!request.is_active && !request.completion.is_done());
  request.kind = Request::Kind::receive;
  request.owner = &self;
  request.comm = &comm;
  request.buffer = arguments.buffer;
  request.element_count = arguments.count;
  request.type = &arguments.type;
  request.peer = arguments.source;
  request.tag = arguments.tag;
}

/// A new request from the pool; not started.
inline Request& make_receive(RankState& self, Comm& comm, const ReceiveArguments& arguments) {
  Request& request = take_request(self, comm, arguments.type);
  describe_receive(request, self, comm, arguments);
  return request;
}

/// Starts the receive that the request describes; it may be complete on return. Never suspends.
inline void start_receive(Request& request) {
  RankState& self = *request.owner;
  SORREL_ASSERT(is_on_worker_of(self) && request.kind == Request::Kind::receive);
  const Envelope wanted{
      .context = request.comm->shared->context(), .source = request.peer, .tag = request.tag};
  if (MatchEntry* entry = self.unexpected.take_for(wanted)) {
    deliver_and_dispose(request, static_cast<Message&>(*entry));
    return;
  }
  request.message.envelope = wanted;
  request.message.request = &request;
  self.posted.add(request.message);
}

}  // namespace sorrel::mpi
