//! Waiting for requests, and recycling them.
//!
//! Owner's worker, in the owner's fiber. A wait first detaches the sends that are short enough
//! (unexpected.hpp, detach), so that a rank never sleeps for a late receiver if a copy suffices.
//!
//! Inlined into the calls of MPI: the processor predicts a return by the latest call, and after a
//! switch that was another fiber's, so each function between a call of MPI and Worker::suspend()
//! costs a mispredicted return.
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

/// How many active requests are not complete. Operations count as receives: a copy of a send does
/// not complete them.
struct PendingCounts {
  std::uint32_t receives = 0;
  std::uint32_t sends = 0;

  void add(const Request& request) {
    if (!request.completion.is_done()) ++(request.kind == Request::Kind::send ? sends : receives);
  }
};

/// Detaches a send that waits by reference, if it is short enough and its receiver on the same
/// worker. Returns whether that completed it. Never suspends.
bool try_detach(Request& request);

/// Whether the request is complete; detaches a short send if that completes it. Never suspends.
inline bool is_complete(Request& request) {
  return request.completion.is_done() ||
         (request.kind == Request::Kind::send && try_detach(request));
}

/// Sets the record for the deadlock report, for the duration of the wait. A wait of a rank's
/// operation has none: the rank does something else, or waits for the operation.
class RecordedWait {
 public:
  RecordedWait(RankState& self, const MPI_Request* requests, std::int32_t count) : self_(self) {
    SORREL_AUDIT_INVARIANTS(self_.posted);
    SORREL_AUDIT_INVARIANTS(self_.unexpected);
    SORREL_ASSERT(self.worker->running().user == &self, "a rank waits in its own fibers");
    if (!is_in_main_fiber(self)) return;
    self_.wait_detail.requests = requests;
    self_.wait_detail.request_count = count;
    self_.wait.begin(WaitRecord::Kind::requests);
  }

  ~RecordedWait() {
    if (is_in_main_fiber(self_)) self_.wait.end();
  }

  RecordedWait(const RecordedWait&) = delete;
  RecordedWait& operator=(const RecordedWait&) = delete;

 private:
  RankState& self_;
};

/// Waits until one request is complete. May suspend.
[[gnu::always_inline]] inline void wait_for(Request& request) {
  if (is_complete(request)) return;
  SORREL_ASSERT(is_on_worker_of(*request.owner));
  const MPI_Request handle = handle_of(request);
  RecordedWait recorded(*request.owner, &handle, 1);
  request.completion.wait(*request.owner->worker);
}

/// `receives`: and operations.
enum class WaitOf : std::uint8_t { receives, everything };

/// Makes the requests of that kind that are not complete count down `waiter`.
void attach(const RequestList& list, WaitOf of, core::Waiter& waiter);

/// Suspends until `missing_count` more requests of that kind are complete.
[[gnu::always_inline]] inline void suspend_for(RankState& self,
                                               const RequestList& list,
                                               WaitOf of,
                                               std::uint32_t missing_count) {
  core::Waiter waiter{.fiber = &self.worker->running(), .missing_count = missing_count};
  attach(list, of, waiter);
  RecordedWait recorded(self, list.handles, list.count);
  self.worker->suspend();
}

/// Waits until all active ones, of which `pending` are not complete, are complete. May suspend.
[[gnu::always_inline]] inline void wait_for_all(RankState& self,
                                                const RequestList& list,
                                                PendingCounts pending) {
  // Receives first: meanwhile most sends by reference are matched, and the remaining ones can still
  // be copied.
  if (pending.receives != 0) suspend_for(self, list, WaitOf::receives, pending.receives);
  if (pending.sends == 0) return;
  std::uint32_t send_count = 0;
  for (std::int32_t i = 0; i < list.count; ++i)
    send_count += list.active(i) != nullptr && !is_complete(*list.active(i)) ? 1 : 0;
  if (send_count != 0) suspend_for(self, list, WaitOf::everything, send_count);
}

/// Waits until one of a list is complete, if some are active and none is complete; returns the
/// first complete one. May suspend.
[[gnu::always_inline]] inline std::int32_t wait_for_any(RankState& self, const RequestList& list) {
  suspend_for(self, list, WaitOf::everything, 1);
  std::int32_t first = -1;
  for (std::int32_t i = list.count - 1; i >= 0; --i) {
    Request* request = list.active(i);
    if (request == nullptr) continue;
    request->completion.detach();
    if (request->completion.is_done()) first = i;
  }
  SORREL_ASSERT(first >= 0, "the wait has ended without a complete request");
  return first;
}

/// Polls once, after other fibers have made progress. May suspend (it yields), but never waits.
void make_progress(RankState& self);

/// Fills `status` (may be null) from a complete request and ends it: persistent ones become
/// inactive, others return to the pool. `life` is the request's, in a register of the caller: a
/// write to the status would make the compiler read it again.
inline void conclude(Request& request, Request::Life life, MPI_Status* status) {
  SORREL_ASSERT(request.completion.is_done() && request.is_active);
  if (status != MPI_STATUS_IGNORE) {
    set_status(*status, request.status_source, request.status_tag, request.status_bytes,
               request.is_cancelled);
  }
  if (life == Request::Life::persistent) {
    deactivate(request);
  } else {
    recycle(request, life);
  }
}

inline void conclude(Request& request, MPI_Status* status) {
  conclude(request, request.life, status);
}

}  // namespace sorrel::mpi
