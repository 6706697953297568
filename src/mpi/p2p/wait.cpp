#include "mpi/p2p/wait.hpp"

#include "mpi/p2p/unexpected.hpp"
#include "mpi/rank_state.hpp"
#include "mpi/status.hpp"

namespace sorrel::mpi {

namespace {

bool is_waited_for(const Request* request) {
  return request != nullptr && request->is_active && !request->completion.is_done();
}

/// Sets the note that the deadlock report reads, for as long as the wait lasts.
class NotedWait {
 public:
  NotedWait(RankState& self, const MPI_Request* requests, std::int32_t count) : self_(self) {
    self_.wait.kind = WaitNote::Kind::requests;
    self_.wait_detail.requests = requests;
    self_.wait_detail.request_count = count;
  }

  ~NotedWait() { self_.wait.kind = WaitNote::Kind::none; }

  NotedWait(const NotedWait&) = delete;
  NotedWait& operator=(const NotedWait&) = delete;

 private:
  RankState& self_;
};

/// A send that waits by reference with a receiver of the same worker can be replaced with a copy.
bool try_detach(Request& request) {
  if (request.kind != Request::Kind::send || request.mode != SendMode::standard) return false;
  // While the message is lent to another worker it is not ours to look at.
  return request.trip.destination->worker == request.owner->worker && request.message.is_linked() &&
         detach(request);
}

enum class Of : std::uint8_t { receives, everything };

bool is_meant(const Request* request, Of of) {
  return is_waited_for(request) &&
         (of == Of::everything || request->kind == Request::Kind::receive);
}

/// Suspends until `missing_count` more of those that are meant are complete.
void suspend_for(RankState& self, const RequestList& list, Of of, std::uint32_t missing_count) {
  core::Waiter waiter{.fiber = &self.fiber, .missing_count = missing_count};
  for (std::int32_t i = 0; i < list.count; ++i) {
    if (is_meant(list[i], of)) list[i]->completion.attach(waiter);
  }
  NotedWait noted(self, list.handles, list.count);
  self.worker->suspend();
  for (std::int32_t i = 0; i < list.count; ++i) {
    if (is_meant(list[i], of)) list[i]->completion.detach();
  }
}

}  // namespace

void wait_for(Request& request) {
  if (request.completion.is_done() || try_detach(request)) return;
  const MPI_Request handle = handle_of(request);
  NotedWait noted(*request.owner, &handle, 1);
  request.completion.wait(*request.owner->worker);
}

void wait_for_all(RankState& self, const RequestList& list) {
  std::uint32_t receive_count = 0;
  for (std::int32_t i = 0; i < list.count; ++i)
    receive_count += is_meant(list[i], Of::receives) ? 1 : 0;
  // Receives first: meanwhile most sends by reference are matched, and those that are not can still
  // be copied.
  if (receive_count != 0) suspend_for(self, list, Of::receives, receive_count);
  std::uint32_t send_count = 0;
  for (std::int32_t i = 0; i < list.count; ++i)
    send_count += is_waited_for(list[i]) && !try_detach(*list[i]) ? 1 : 0;
  if (send_count != 0) suspend_for(self, list, Of::everything, send_count);
}

void wait_for_any(RankState& self, const RequestList& list) {
  bool is_any_active = false;
  for (std::int32_t i = 0; i < list.count; ++i) {
    if (list[i] == nullptr || !list[i]->is_active) continue;
    if (is_complete(*list[i])) return;
    is_any_active = true;
  }
  if (is_any_active) suspend_for(self, list, Of::everything, 1);
}

void make_progress(RankState& self) {
  self.worker->yield();
}

bool is_complete(Request& request) {
  return request.completion.is_done() || try_detach(request);
}

int conclude(Request& request, MPI_Status* status) {
  const int error = request.error;
  if (status != MPI_STATUS_IGNORE) {
    set_status(*status, request.status_source, request.status_tag, request.status_bytes,
               request.is_cancelled);
  }
  if (request.is_shared) return error;
  request.is_active = false;
  if (!request.is_persistent) recycle(request);
  return error;
}

void recycle(Request& request) {
  if (request.is_shared) return;
  RequestPool& pool = request.owner->worker_state->requests;
  request.type->release();
  release(*request.comm);
  pool.give_back(request);
}

Request& take_request(RankState& self, Comm& comm, Datatype& type) {
  Request& request = self.worker_state->requests.take();
  retain(comm);
  type.retain();
  return request;
}

}  // namespace sorrel::mpi
