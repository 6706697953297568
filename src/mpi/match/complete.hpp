//! The end of a request, and its place in the pool before and after.
//!
//! Owner's worker, in a fiber or not; nothing here suspends.
#pragma once

#include "mpi/match/rank_state.hpp"
#include "mpi/match/request.hpp"

namespace sorrel::mpi {

/// A new request of `self` from the pool, with references to communicator and datatype.
inline Request& take_request(RankState& self, Comm& comm, Datatype& type) {
  retain(comm);
  type.retain();
  return self.worker_state->requests.take();
}

/// Returns a request to its pool and drops its references to communicator and datatype.
inline void recycle(Request& request) {
  if (request.life == Request::Life::endless) return;
  request.type->release();
  release(*request.comm);
  request.owner->worker_state->requests.give_back(request);
}

/// complete() of a request that has duties.
void complete_with_duties(Request& request);

/// Completes a request on its owner's worker; a released request is also recycled.
inline void complete(Request& request) {
  if (request.duties.any()) [[unlikely]]
    return complete_with_duties(request);
  request.completion.complete(*request.owner->worker);
}

/// Reports to the sender of a message by reference that its buffer is free. Called on the
/// receiver's worker.
inline void finish_send(Request& send, core::Worker& here) {
  core::Worker& owner_worker = *send.owner->worker;
  if (&owner_worker == &here) {
    complete(send);
    return;
  }
  send.handoff.run = [](core::Worker&, core::RemoteCall& call) {
    complete(*static_cast<Request::Handoff&>(call).request);
  };
  here.post(owner_worker, send.handoff);
}

}  // namespace sorrel::mpi
