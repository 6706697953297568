#include "mpi/match/cancel.hpp"

#include "mpi/match/complete.hpp"
#include "mpi/match/remote.hpp"

namespace sorrel::mpi {

namespace {

/// Carries a cancel of a message by reference to the receiver's worker, and the answer back.
struct CancelCall : core::RemoteCall {
  Request* request;
};

/// On the sender's worker, when the receiver's worker no longer accesses the request.
void run_answer(core::Worker&, core::RemoteCall& call) {
  auto* answer = static_cast<CancelCall*>(&call);
  complete(*answer->request);
  delete answer;
}

/// On the receiver's worker, where the message has been entered, copied or matched before.
void run_cancel(core::Worker& here, core::RemoteCall& call) {
  Request& send = *static_cast<CancelCall&>(call).request;
  core::Worker& owner_worker = *send.owner->worker;
  SORREL_ASSERT(send.handoff.destination->worker == &here);
  if (send.message.is_linked()) {
    send.handoff.destination->unexpected.remove(send.message);
    send.is_cancelled = true;
    finish_send(send, here);
  }
  call.run = run_answer;
  here.post(owner_worker, call);
}

void cancel_send(Request& request) {
  RankState& to = *request.handoff.destination;
  core::Worker& owner_worker = *request.owner->worker;
  if (to.worker == nullptr) return cancel_remote_send(request);
  if (to.worker == &owner_worker) {
    if (!request.message.is_linked()) return;
    to.unexpected.remove(request.message);
    request.is_cancelled = true;
    complete(request);
    return;
  }
  if (request.duties.missing_part_count != 0) return;
  // The request stays until both the message's handoff and this call are back.
  request.duties.missing_part_count = 2;
  auto* call = new CancelCall;
  call->run = run_cancel;
  call->request = &request;
  owner_worker.post(*to.worker, *call);
}

}  // namespace

void cancel(Request& request) {
  if (request.completion.is_done()) return;
  SORREL_ASSERT(is_on_worker_of(*request.owner) && request.is_active);
  SORREL_ASSERT(request.kind != Request::Kind::operation);
  if (request.kind == Request::Kind::receive) {
    (void)cancel_receive(request);
  } else {
    cancel_send(request);
  }
}

bool cancel_receive(Request& request) {
  if (request.completion.is_done() || !request.message.is_linked()) return false;
  request.owner->posted.remove(request.message);
  request.is_cancelled = true;
  complete(request);
  return true;
}

}  // namespace sorrel::mpi
