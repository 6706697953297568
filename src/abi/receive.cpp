// Receives, and combined sends and receives. MPI 5.0, 3.2, 3.7, 3.9, 3.10.
#include <cstdlib>

#include "abi/call.hpp"
#include "abi/outcome.hpp"
#include "abi/p2p_arguments.hpp"
#include "mpi/match/start.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::abi {

namespace {

using mpi::Request;
using mpi::SendMode;

void give_status(const Request& request, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  mpi::set_status(*status, request.status_source, request.status_tag, request.status_bytes, false);
}

int blocking(RankState& self, Comm& comm, const UserReceive& user, MPI_Status* status) {
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  // On the stack: a blocking receive ends before its caller returns.
  Request request;
  describe_receive(request, self, comm, arguments_of(user, *type));
  if (user.source != MPI_PROC_NULL) {
    start_receive(request);
    wait_for(request);
  }
  give_status(request, status);
  return request.error == MPI_SUCCESS ? MPI_SUCCESS : explain(self, request);
}

int nonblocking(RankState& self, Comm& comm, const UserReceive& user, MPI_Request* handle) {
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  Request& request = make_receive(self, comm, arguments_of(user, *type));
  request.is_active = true;
  *handle = handle_of(request);
  if (user.source == MPI_PROC_NULL) {
    complete(request);
  } else {
    start_receive(request);
  }
  return MPI_SUCCESS;
}

int both(RankState& self,
         Comm& comm,
         const UserSend& user_send,
         const UserReceive& user_receive,
         MPI_Status* status) {
  mpi::Datatype* send_type = nullptr;
  mpi::Datatype* receive_type = nullptr;
  if (const int error = check(self, comm, user_send, &send_type); error != MPI_SUCCESS)
    return error;
  if (const int error = check(self, comm, user_receive, &receive_type); error != MPI_SUCCESS)
    return error;
  Request receive;
  describe_receive(receive, self, comm, arguments_of(user_receive, *receive_type));
  if (user_receive.source != MPI_PROC_NULL) start_receive(receive);
  if (user_send.destination != MPI_PROC_NULL)
    send(self, comm, arguments_of(user_send, *send_type), SendMode::standard);
  if (user_receive.source != MPI_PROC_NULL) wait_for(receive);
  give_status(receive, status);
  return receive.error == MPI_SUCCESS ? MPI_SUCCESS : explain(self, receive);
}

int both_nonblocking(RankState& self,
                     Comm& comm,
                     const UserSend& user_send,
                     const UserReceive& user_receive,
                     MPI_Request* handle) {
  mpi::Datatype* send_type = nullptr;
  mpi::Datatype* receive_type = nullptr;
  if (const int error = check(self, comm, user_send, &send_type); error != MPI_SUCCESS)
    return error;
  if (const int error = check(self, comm, user_receive, &receive_type); error != MPI_SUCCESS)
    return error;
  Request& receive = make_receive(self, comm, arguments_of(user_receive, *receive_type));
  Request& send = make_send(self, comm, arguments_of(user_send, *send_type), SendMode::standard);
  *handle = handle_of(receive);
  return start_pair(receive, send);
}

/// A packed copy of a buffer that a receive will overwrite, from malloc.
int copy_packed(RankState& self,
                const UserReceive& user,
                const mpi::Datatype& type,
                void** copied,
                MPI_Count* bytes) {
  const std::size_t size = static_cast<std::size_t>(user.count) * type.size();
  *copied = std::malloc(size + 1);
  if (*copied == nullptr)
    return self.fail(MPI_ERR_NO_MEM, "not enough memory for a copy of %zu bytes", size);
  pack(user.buffer, static_cast<std::size_t>(user.count), type, *copied);
  *bytes = static_cast<MPI_Count>(size);
  return MPI_SUCCESS;
}

int replace(
    RankState& self, Comm& comm, const UserReceive& user, UserSend user_send, MPI_Status* status) {
  mpi::Datatype* type = nullptr;
  void* copied = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  if (const int error = copy_packed(self, user, *type, &copied, &user_send.count);
      error != MPI_SUCCESS)
    return error;
  user_send.buffer = copied;
  const int error = both(self, comm, user_send, user, status);
  std::free(copied);
  return error;
}

int replace_nonblocking(
    RankState& self, Comm& comm, const UserReceive& user, UserSend user_send, MPI_Request* handle) {
  mpi::Datatype* type = nullptr;
  mpi::Datatype* byte = nullptr;
  void* copied = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  if (const int error = check(self, comm, user_send, &byte); error != MPI_SUCCESS) return error;
  if (const int error = copy_packed(self, user, *type, &copied, &user_send.count);
      error != MPI_SUCCESS)
    return error;
  user_send.buffer = copied;
  Request& receive = make_receive(self, comm, arguments_of(user, *type));
  Request& send = make_send(self, comm, arguments_of(user_send, *byte), SendMode::standard);
  send.duties.owns_buffer = true;
  send.buffered_charge = 0;
  *handle = handle_of(receive);
  return start_pair(receive, send);
}

}  // namespace

#define SORREL_BINDINGS "abi/receive_bindings.inc"
#include "abi/both_counts.hpp"

extern "C" {}  // extern "C"

}  // namespace sorrel::abi
