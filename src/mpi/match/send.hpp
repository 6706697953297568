//! Send - one message from one rank to another, on the fastest path available.
//!
//! To a rank of the same worker: directly into its posted receive, else copied (blocking sends) or
//! left with the sender by reference. To another worker: short ones as a copy in the mailbox, long
//! ones by reference, scattered ones as a packed copy by reference. README.md has the protocol.
//! Arguments are valid: the caller has checked them, and handles MPI_PROC_NULL.
#pragma once

#include <cstddef>

#include "mpi/match/arrival.hpp"
#include "mpi/match/traced_message.hpp"

namespace sorrel::mpi {

/// The message of a send call.
struct SendArguments {
  const void* buffer;
  std::size_t count;
  Datatype& type;
  int destination;
  int tag;
};

/// The envelope of a message that the calling rank sends.
inline Envelope envelope_of(const Comm& comm, int tag) {
  return {.context = comm.shared->context(), .source = comm.rank, .tag = tag};
}

/// The arguments with which a send request was described.
inline SendArguments arguments_of(const Request& request) {
  return {.buffer = request.buffer,
          .count = request.element_count,
          .type = *request.type,
          .destination = request.peer,
          .tag = request.tag};
}

inline MessageData data_of(const SendArguments& arguments) {
  return {.buffer = arguments.buffer,
          .count = arguments.count,
          .type = &arguments.type,
          .bytes = arguments.count * arguments.type.size()};
}

/// Copies a message to a rank of another worker into the mailbox; false if it must be sent by
/// reference.
[[nodiscard]] bool try_send_inline(RankState& self,
                                   RankState& to,
                                   const Comm& comm,
                                   const SendArguments& arguments);

/// try_send(), inlined wherever it is called: blocking sends begin with it.
[[nodiscard, gnu::always_inline]] inline bool try_send_inlined(RankState& self,
                                                               const Comm& comm,
                                                               const SendArguments& arguments,
                                                               SendMode mode) {
  RankState& to = comm.shared->member(arguments.destination);
  const std::size_t bytes = arguments.count * arguments.type.size();
  self.worker_state->sent.add(bytes);
  if (self.worker->tracer() != nullptr) [[unlikely]]
    trace_send(self, comm, arguments.destination, arguments.tag, bytes);
  if (to.worker != self.worker)
    return mode != SendMode::synchronous && try_send_inline(self, to, comm, arguments);
  const Envelope envelope = envelope_of(comm, arguments.tag);
  Request* receive = take_posted(to, envelope);
  if (receive == nullptr) return false;
  deliver(*receive, envelope, data_of(arguments));
  return true;
}

/// Sends if that needs neither waiting nor a request: true if the buffer may be reused. Never
/// suspends.
[[nodiscard]] inline bool try_send(RankState& self,
                                   const Comm& comm,
                                   const SendArguments& arguments,
                                   SendMode mode) {
  return try_send_inlined(self, comm, arguments, mode);
}

/// Sends and waits until the buffer may be reused. May suspend.
void send(RankState& self, Comm& comm, const SendArguments& arguments, SendMode mode);

/// Leaves the data with the request and enters the message at its destination: the second step, if
/// try_send() has failed. Never suspends.
void start_send_by_reference(Request& request);

/// As above, with a new request for the user; scattered data for another worker is packed first.
[[nodiscard]] Request& start_send_by_reference(RankState& self,
                                               Comm& comm,
                                               const SendArguments& arguments,
                                               SendMode mode);

/// Starts the send that the request describes; it may be complete on return. Never suspends.
void start_send(Request& request);

/// Fills a new send request; does not start it.
inline void describe_send(
    Request& request, RankState& self, Comm& comm, const SendArguments& arguments, SendMode mode) {
  SORREL_ASSERT(!request.is_active && !request.completion.is_done());
  request.kind = Request::Kind::send;
  request.mode = mode;
  request.owner = &self;
  request.comm = &comm;
  request.buffer = const_cast<void*>(arguments.buffer);
  request.element_count = arguments.count;
  request.type = &arguments.type;
  request.peer = arguments.destination;
  request.tag = arguments.tag;
}

/// A new request from the pool; not started.
inline Request& make_send(RankState& self,
                          Comm& comm,
                          const SendArguments& arguments,
                          SendMode mode) {
  Request& request = take_request(self, comm, arguments.type);
  describe_send(request, self, comm, arguments, mode);
  return request;
}

}  // namespace sorrel::mpi
