#include "mpi/match/wait.hpp"

#include "mpi/match/unexpected.hpp"

namespace sorrel::mpi {

void attach(const RequestList& list, WaitOf of, core::Waiter& waiter) {
  for (std::int32_t i = 0; i < list.count; ++i) {
    Request* request = list.active(i);
    if (request == nullptr || request->completion.is_done()) continue;
    if (of == WaitOf::everything || request->kind != Request::Kind::send)
      request->completion.attach(waiter);
  }
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
