//! Waiting for requests, and recycling them.
//!
//! Owner's worker, in the owner's fiber. A wait first detaches the sends that are short enough
//! (unexpected.hpp, detach), so that a rank never sleeps for a late receiver if a copy suffices.
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "mpi/base/status.hpp"
#include "mpi/match/complete.hpp"

namespace sorrel::mpi {

/// An array of request handles, some of them MPI_REQUEST_NULL; all others are requests of the
/// caller.
struct RequestList {
  const MPI_Request* handles;
  std::int32_t count;

  /// Null for MPI_REQUEST_NULL.
  [[nodiscard]] Request* operator[](std::int32_t i) const {
    SORREL_ASSERT(i >= 0 && i < count);
    return handles[i] == MPI_REQUEST_NULL ? nullptr : reinterpret_cast<Request*>(handles[i]);
  }

  /// Null for MPI_REQUEST_NULL and for inactive requests.
  [[nodiscard]] Request* active(std::int32_t i) const {
    SORREL_ASSERT(i >= 0 && i < count);
    if (handles[i] == MPI_REQUEST_NULL) return nullptr;
    auto* request = reinterpret_cast<Request*>(handles[i]);
    return request->is_active ? request : nullptr;
  }
};

/// How many active requests are not complete.
struct PendingCounts {
  std::uint32_t receives = 0;
  std::uint32_t sends = 0;

  void add(const Request& request) {
    if (!request.completion.is_done())
      ++(request.kind == Request::Kind::receive ? receives : sends);
  }
};

/// Waits until one request is complete. May suspend.
void wait_for(Request& request);

/// Waits until all active ones, of which `pending` are not complete, are complete. May suspend.
void wait_for_all(RankState& self, const RequestList& list, PendingCounts pending);

/// Waits until one of a list is complete, if some are active and none is complete; returns the
/// first complete one. May suspend.
std::int32_t wait_for_any(RankState& self, const RequestList& list);

/// Polls once, after other fibers have made progress. May suspend (it yields), but never waits.
void make_progress(RankState& self);

/// Detaches a send that waits by reference, if it is short enough and its receiver on the same
/// worker. Returns whether that completed it. Never suspends.
bool try_detach(Request& request);

/// Whether the request is complete; detaches a short send if that completes it. Never suspends.
inline bool is_complete(Request& request) {
  return request.completion.is_done() ||
         (request.kind == Request::Kind::send && try_detach(request));
}

/// Fills `status` (may be null) from a complete request and ends it: persistent ones become
/// inactive, others return to the pool.
inline void conclude(Request& request, MPI_Status* status) {
  SORREL_ASSERT(request.completion.is_done() && request.is_active);
  if (status != MPI_STATUS_IGNORE) {
    set_status(*status, request.status_source, request.status_tag, request.status_bytes,
               request.is_cancelled);
  }
  if (request.life == Request::Life::persistent) {
    deactivate(request);
  } else {
    recycle(request);
  }
}

}  // namespace sorrel::mpi
