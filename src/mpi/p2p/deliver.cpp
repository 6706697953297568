#include "mpi/p2p/deliver.hpp"

#include "mpi/p2p/buffered.hpp"
#include "mpi/p2p/remote.hpp"
#include "mpi/p2p/shared_copy.hpp"
#include "mpi/p2p/unexpected.hpp"
#include "mpi/p2p/wait.hpp"

namespace sorrel::mpi {

void move_data(Request& receive, const void* buffer, std::size_t count, const Datatype& type) {
  receive.status_bytes =
      copy(buffer, count, type, receive.buffer, receive.element_count, *receive.type);
  if (receive.status_bytes < count * type.size()) {
    receive.error = MPI_ERR_TRUNCATE;
    // The size that did not fit, for the error's text; the status holds the received size.
    receive.truncated_bytes = count * type.size();
  }
}

void deliver_and_dispose(Request& receive, Message& message) {
  core::Worker& here = *receive.owner->worker;
  Request* sender = message.request;
  if (sender == nullptr) {
    deliver(receive, message.envelope, data_of(message));
    free_copy(here.pool(), message);
  } else if (sender->owner->worker == nullptr) [[unlikely]] {
    deliver_remote(receive, message);
  } else if (can_be_shared(receive, *sender)) {
    copy_together(receive, *sender);
  } else {
    deliver(receive, message.envelope, data_of(message));
    finish_send(*sender, here);
  }
}

void complete_with_duties(Request& request) {
  const Request::Duties duties = request.duties;
  if (duties.owns_buffer) free_owned_buffer(request);
  if (duties.is_part) {
    Request& main_part = *request.main_part;
    recycle(request);
    complete(main_part);
    return;
  }
  if (duties.missing_part_count > 1) {
    --request.duties.missing_part_count;
    return;
  }
  request.completion.complete(*request.owner->worker);
  if (duties.is_released) recycle(request);
}

void finish_send(Request& send, core::Worker& here) {
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
