#include "mpi/match/start.hpp"

#include "mpi/match/buffered.hpp"
#include "mpi/match/operation.hpp"
#include "mpi/match/unexpected.hpp"

namespace sorrel::mpi {

namespace {

int start_buffered(Request& request) {
  const int error = buffered_send(*request.owner, *request.comm, arguments_of(request));
  if (error == MPI_SUCCESS) {
    complete(request);
  } else {
    deactivate(request);
  }
  return error;
}

}  // namespace

int start(Request& request) {
  activate(request);
  if (request.peer == MPI_PROC_NULL) {
    complete(request);
    return MPI_SUCCESS;
  }
  if (request.kind == Request::Kind::receive) {
    start_receive(request);
    return MPI_SUCCESS;
  }
  if (request.mode == SendMode::buffered) return start_buffered(request);
  start_send(request);
  return MPI_SUCCESS;
}

int restart(Request& request) {
  SORREL_ASSERT(request.life == Request::Life::persistent && !request.duties.is_released);
  request.completion.reset();
  request.is_cancelled = false;
  request.duties.missing_part_count = 0;
  request.error = MPI_SUCCESS;
  request.status_source = MPI_PROC_NULL;
  request.status_tag = MPI_ANY_TAG;
  request.status_bytes = 0;
  if (request.kind == Request::Kind::operation) {
    request.status_source = MPI_ANY_SOURCE;
    activate(request);
    const int error = request.operation->start();
    if (error != MPI_SUCCESS) deactivate(request);
    return error;
  }
  return start(request);
}

int start_pair(Request& receive, Request& send) {
  SORREL_ASSERT(receive.kind == Request::Kind::receive && send.kind == Request::Kind::send &&
                receive.owner == send.owner);
  receive.duties.missing_part_count = 2;
  send.duties.is_part = true;
  send.main_part = &receive;
  const int error = start(receive);
  if (error != MPI_SUCCESS) return error;
  // The caller waits for the receive only, so a send that a wait could detach is detached now.
  RankState& self = *send.owner;
  const bool is_here =
      send.peer != MPI_PROC_NULL && send.comm->shared->member(send.peer).worker == self.worker;
  if (!is_here) return start(send);
  Message& message = send.message;
  const int send_error = start(send);
  // A send that completed at once has been recycled, and its message is in no table.
  if (message.is_linked() && message.request == &send) (void)detach(send);
  return send_error;
}

}  // namespace sorrel::mpi
