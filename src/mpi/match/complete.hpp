//! The life of a request: taken from the pool, active, complete, inactive or back in the pool.
//!
//! Owner's worker, in a fiber or not; nothing here suspends.
#pragma once

#include "mpi/match/rank_state.hpp"
#include "mpi/match/request.hpp"

namespace sorrel::mpi {

/// A new request of `self` from the pool, with references to communicator and datatype.
inline Request& take_request(RankState& self, Comm& comm, Datatype& type) {
  SORREL_ASSERT(is_on_worker_of(self));
  SORREL_ASSERT(&local_part_of(comm).shared->member(comm.rank) == &self,
                "the communicator of another rank");
  retain(comm);
  type.retain();
  return self.worker_state->requests.take();
}

/// A persistent request, made likewise. In a job that may be saved it is an object of the rank.
[[nodiscard]] Request& take_persistent_request(RankState& self, Comm& comm, Datatype& type);

/// A new request, or a persistent one that is started again, becomes the user's to wait for.
inline void activate(Request& request) {
  SORREL_ASSERT(!request.is_active, "no wait has ended the last start");
  SORREL_ASSERT(!request.completion.is_done() && !request.message.is_linked());
  request.is_active = true;
}

/// The wait for a persistent request is over, or it could not be started.
inline void deactivate(Request& request) {
  SORREL_ASSERT(request.is_active && request.life == Request::Life::persistent);
  request.is_active = false;
}

/// Ends the operation of a request, and the request (operation.hpp).
[[gnu::cold]] void end_operation(Request& request);

/// recycle() of a request that is persistent, or of an operation.
[[gnu::cold]] void recycle_lasting(Request& request);

/// Returns a request to its pool and drops its references to communicator and datatype. `life` is
/// the request's, in a register of the caller.
inline void recycle(Request& request, Request::Life life) {
  SORREL_ASSERT(life == request.life);
  if (life == Request::Life::endless) return;
  if (life >= Request::Life::persistent) [[unlikely]]
    return recycle_lasting(request);
  SORREL_ASSERT(is_on_worker_of(*request.owner));
  SORREL_ASSERT(!request.message.is_linked(), "a match table still holds its entry");
  SORREL_ASSERT(request.completion.is_done() || !request.is_active || request.duties.is_part,
                "the operation is still in progress");
  request.type->release();
  release(*request.comm);
  request.owner->worker_state->requests.give_back(request);
}

inline void recycle(Request& request) {
  recycle(request, request.life);
}

/// The request loses its handle while it is in progress: it is recycled when it is complete.
inline void release_handle(Request& request) {
  SORREL_ASSERT(!request.duties.is_released && !request.completion.is_done());
  request.duties.is_released = true;
  ++request.comm->released_count;
}

/// Waits until all sends and receives of the communicator without a handle are complete.
void wait_for_released(RankState& self, Comm& comm);

/// complete() of a request that has duties.
void complete_with_duties(Request& request);

/// Completes a request on its owner's worker; a released request is also recycled.
inline void complete(Request& request) {
  SORREL_ASSERT(is_on_worker_of(*request.owner), "only its owner's worker completes a request");
  SORREL_ASSERT(!request.message.is_linked() || request.duties.missing_part_count > 1,
                "a message or a receive could still match it");
  if (request.duties.any()) [[unlikely]]
    return complete_with_duties(request);
  request.completion.complete(*request.owner->worker);
}

/// Reports to the sender of a message by reference that its buffer is free. Called on the
/// receiver's worker.
inline void finish_send(Request& send, core::Worker& here) {
  SORREL_ASSERT(send.kind == Request::Kind::send && &here == core::Worker::current());
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
