#include "mpi/p2p/start.hpp"

#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/deliver.hpp"
#include "mpi/p2p/unexpected.hpp"
#include "mpi/p2p/wait.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

namespace {

int start_buffered(Request& request) {
  const SendArguments arguments{.buffer = request.buffer,
                                .count = request.element_count,
                                .type = *request.type,
                                .destination = request.peer,
                                .tag = request.tag};
  const int error = buffered_send(*request.owner, *request.comm, arguments);
  if (error == MPI_SUCCESS) {
    complete(request);
  } else {
    request.is_active = false;
  }
  return error;
}

}  // namespace

int start(Request& request) {
  request.completion.reset();
  request.is_active = true;
  request.is_cancelled = false;
  request.error = MPI_SUCCESS;
  request.status_source = MPI_PROC_NULL;
  request.status_tag = MPI_ANY_TAG;
  request.status_bytes = 0;
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

Request& make_send(RankState& self, Comm& comm, const SendArguments& arguments, SendMode mode) {
  Request& request = take_request(self, comm, arguments.type);
  describe_send(request, self, comm, arguments, mode);
  return request;
}

Request& make_receive(RankState& self, Comm& comm, const ReceiveArguments& arguments) {
  Request& request = take_request(self, comm, arguments.type);
  describe_receive(request, self, comm, arguments);
  return request;
}

int start_pair(Request& receive, Request& send) {
  receive.missing_part_count = 2;
  send.main_part = &receive;
  const int error = start(receive);
  if (error != MPI_SUCCESS) return error;
  // The pair is waited for as one, by its receive: a send that could be copied then must be copied
  // now.
  RankState& self = *send.owner;
  const bool is_here =
      send.peer != MPI_PROC_NULL && send.comm->shared->member(send.peer).worker == self.worker;
  if (!is_here) return start(send);
  Message& message = send.message;
  const int send_error = start(send);
  // A send that went at once has been recycled, and its message is linked nowhere.
  if (message.is_linked() && message.request == &send) (void)detach(send);
  return send_error;
}

}  // namespace sorrel::mpi
