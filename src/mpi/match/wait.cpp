#include "mpi/match/wait.hpp"

#include "mpi/match/unexpected.hpp"

namespace sorrel::mpi {

namespace {

/// Sets the record for the deadlock report, for the duration of the wait.
class RecordedWait {
 public:
  RecordedWait(RankState& self, const MPI_Request* requests, std::int32_t count) : self_(self) {
    SORREL_AUDIT_INVARIANTS(self_.posted);
    SORREL_AUDIT_INVARIANTS(self_.unexpected);
    SORREL_ASSERT(&self.worker->running() == &self.fiber, "a rank waits in its own fiber");
    self_.wait.begin(WaitRecord::Kind::requests);
    self_.wait_detail.requests = requests;
    self_.wait_detail.request_count = count;
  }

  ~RecordedWait() { self_.wait.end(); }

  RecordedWait(const RecordedWait&) = delete;
  RecordedWait& operator=(const RecordedWait&) = delete;

 private:
  RankState& self_;
};

enum class Of : std::uint8_t { receives, everything };

/// Suspends until `missing_count` more requests of that kind are complete.
void suspend_for(RankState& self, const RequestList& list, Of of, std::uint32_t missing_count) {
  core::Waiter waiter{.fiber = &self.fiber, .missing_count = missing_count};
  for (std::int32_t i = 0; i < list.count; ++i) {
    Request* request = list.active(i);
    if (request == nullptr || request->completion.is_done()) continue;
    if (of == Of::everything || request->kind == Request::Kind::receive)
      request->completion.attach(waiter);
  }
  RecordedWait recorded(self, list.handles, list.count);
  self.worker->suspend();
}

}  // namespace

void wait_for(Request& request) {
  if (is_complete(request)) return;
  SORREL_ASSERT(is_on_worker_of(*request.owner));
  const MPI_Request handle = handle_of(request);
  RecordedWait recorded(*request.owner, &handle, 1);
  request.completion.wait(*request.owner->worker);
}

void wait_for_all(RankState& self, const RequestList& list, PendingCounts pending) {
  // Receives first: meanwhile most sends by reference are matched, and the remaining ones can still
  // be copied.
  if (pending.receives != 0) suspend_for(self, list, Of::receives, pending.receives);
  if (pending.sends == 0) return;
  std::uint32_t send_count = 0;
  for (std::int32_t i = 0; i < list.count; ++i)
    send_count += list.active(i) != nullptr && !is_complete(*list.active(i)) ? 1 : 0;
  if (send_count != 0) suspend_for(self, list, Of::everything, send_count);
}

std::int32_t wait_for_any(RankState& self, const RequestList& list) {
  suspend_for(self, list, Of::everything, 1);
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

void make_progress(RankState& self) {
  self.worker->yield();
}

bool try_detach(Request& request) {
  // While the message is lent to another worker it must not be read.
  return request.mode == SendMode::standard &&
         request.handoff.destination->worker == request.owner->worker &&
         request.message.is_linked() && detach(request);
}

}  // namespace sorrel::mpi
