//! Waiting for requests, and what becomes of them afterwards.
//!
//! Owner's worker, in the owner's fiber. A wait first lets the sends that are short enough go
//! (unexpected.hpp, detach), so that a rank never sleeps for a receiver that is not there yet while
//! a copy would do.
#pragma once

#include <cstdint>

#include "mpi/p2p/request.hpp"

namespace sorrel::mpi {

/// An array of request handles, some of them MPI_REQUEST_NULL; all others are requests of the
/// caller.
struct RequestList {
  const MPI_Request* handles;
  std::int32_t count;

  /// Null for MPI_REQUEST_NULL.
  [[nodiscard]] Request* operator[](std::int32_t i) const {
    return handles[i] == MPI_REQUEST_NULL ? nullptr : reinterpret_cast<Request*>(handles[i]);
  }
};

/// Until one request is complete. May suspend.
void wait_for(Request& request);

/// Until all active ones are complete. May suspend.
void wait_for_all(RankState& self, const RequestList& list);

/// Until at least one active one is complete; at once when none is active. May suspend.
void wait_for_any(RankState& self, const RequestList& list);

/// Looks once, after having let others make progress. May suspend (it yields), but never waits.
void make_progress(RankState& self);

/// Whether the request is complete, letting a short send go if that completes it. Never suspends.
bool is_complete(Request& request);

/// Fills `status` (may be null) from a complete request and ends it: persistent ones become
/// inactive, others go back to the pool. Returns the request's error class.
int conclude(Request& request, MPI_Status* status);

/// Back to the pool it came from, with its hold on communicator and datatype.
void recycle(Request& request);

/// A new request of `self` from the pool, holding communicator and datatype.
Request& take_request(RankState& self, Comm& comm, Datatype& type);

}  // namespace sorrel::mpi
