// Receives, and sends together with receives. MPI 5.0, 3.2, 3.7, 3.9, 3.10.
#include <cstdlib>

#include "abi/call.hpp"
#include "abi/check.hpp"
#include "abi/outcome.hpp"
#include "mpi/datatype/copy.hpp"
#include "mpi/p2p/start.hpp"
#include "mpi/p2p/wait.hpp"
#include "mpi/status.hpp"

namespace sorrel::abi {

namespace {

using mpi::ReceiveArguments;
using mpi::Request;
using mpi::SendArguments;
using mpi::SendMode;

/// The arguments as the user gave them.
struct UserReceive {
  void* buffer;
  int count;
  MPI_Datatype datatype;
  int source;
  int tag;
};

struct UserSend {
  const void* buffer;
  int count;
  MPI_Datatype datatype;
  int destination;
  int tag;
};

int check(RankState& self, const Comm& comm, const UserReceive& user, mpi::Datatype** type) {
  const int error = check_buffer(self, user.buffer, user.count, user.datatype, type);
  if (error != MPI_SUCCESS) return error;
  if (user.tag < 0 && user.tag != MPI_ANY_TAG) [[unlikely]]
    return fail_tag(self, user.tag);
  if (user.source == MPI_PROC_NULL || user.source == MPI_ANY_SOURCE) return MPI_SUCCESS;
  return check_rank(self, comm, "source", user.source);
}

int check(RankState& self, const Comm& comm, const UserSend& user, mpi::Datatype** type) {
  const int error = check_buffer(self, user.buffer, user.count, user.datatype, type);
  if (error != MPI_SUCCESS) return error;
  if (user.tag < 0) [[unlikely]]
    return fail_tag(self, user.tag);
  if (user.destination == MPI_PROC_NULL) return MPI_SUCCESS;
  return check_rank(self, comm, "destination", user.destination);
}

ReceiveArguments arguments_of(const UserReceive& user, mpi::Datatype& type) {
  return {.buffer = user.buffer,
          .count = static_cast<std::size_t>(user.count),
          .type = type,
          .source = user.source,
          .tag = user.tag};
}

SendArguments arguments_of(const UserSend& user, mpi::Datatype& type) {
  return {.buffer = user.buffer,
          .count = static_cast<std::size_t>(user.count),
          .type = type,
          .destination = user.destination,
          .tag = user.tag};
}

void give_status(const Request& request, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  mpi::set_status(*status, request.status_source, request.status_tag, request.status_bytes, false);
}

int blocking(RankState& self, Comm& comm, const UserReceive& user, MPI_Status* status) {
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  // On the stack: a blocking receive is over before its caller is.
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
  *handle = handle_of(request);
  return start(request);
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

/// A packed copy of a buffer that is about to be received over, from malloc.
int copy_packed(RankState& self,
                const UserReceive& user,
                const mpi::Datatype& type,
                void** copied,
                int* bytes) {
  // A count of bytes must do for a count of elements, because the copy is sent as bytes.
  constexpr std::size_t bytes_max = std::size_t{1} << 30;
  const std::size_t size = static_cast<std::size_t>(user.count) * type.size();
  if (size > bytes_max) return self.fail(MPI_ERR_COUNT, "%zu bytes are too many to replace", size);
  *copied = std::malloc(size + 1);
  if (*copied == nullptr) return self.fail(MPI_ERR_NO_MEM, "no memory for %zu bytes", size);
  pack(user.buffer, static_cast<std::size_t>(user.count), type, *copied);
  *bytes = static_cast<int>(size);
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
  send.owns_buffer = true;
  *handle = handle_of(receive);
  return start_pair(receive, send);
}

}  // namespace

extern "C" {

int PMPI_Recv(void* buf,
              int count,
              MPI_Datatype datatype,
              int source,
              int tag,
              MPI_Comm comm,
              MPI_Status* status) {
  return call_on(comm, "MPI_Recv", [&](RankState& self, Comm& c) {
    return blocking(self, c, {buf, count, datatype, source, tag}, status);
  });
}

int PMPI_Irecv(void* buf,
               int count,
               MPI_Datatype datatype,
               int source,
               int tag,
               MPI_Comm comm,
               MPI_Request* request) {
  return call_on(comm, "MPI_Irecv", [&](RankState& self, Comm& c) {
    return nonblocking(self, c, {buf, count, datatype, source, tag}, request);
  });
}

int PMPI_Recv_init(void* buf,
                   int count,
                   MPI_Datatype datatype,
                   int source,
                   int tag,
                   MPI_Comm comm,
                   MPI_Request* request) {
  return call_on(comm, "MPI_Recv_init", [&](RankState& self, Comm& c) {
    const UserReceive user{buf, count, datatype, source, tag};
    mpi::Datatype* type = nullptr;
    if (const int error = check(self, c, user, &type); error != MPI_SUCCESS) return error;
    Request& made = make_receive(self, c, arguments_of(user, *type));
    made.is_persistent = true;
    *request = handle_of(made);
    return MPI_SUCCESS;
  });
}

int PMPI_Sendrecv(const void* sendbuf,
                  int sendcount,
                  MPI_Datatype sendtype,
                  int dest,
                  int sendtag,
                  void* recvbuf,
                  int recvcount,
                  MPI_Datatype recvtype,
                  int source,
                  int recvtag,
                  MPI_Comm comm,
                  MPI_Status* status) {
  return call_on(comm, "MPI_Sendrecv", [&](RankState& self, Comm& c) {
    return both(self, c, {sendbuf, sendcount, sendtype, dest, sendtag},
                {recvbuf, recvcount, recvtype, source, recvtag}, status);
  });
}

int PMPI_Isendrecv(const void* sendbuf,
                   int sendcount,
                   MPI_Datatype sendtype,
                   int dest,
                   int sendtag,
                   void* recvbuf,
                   int recvcount,
                   MPI_Datatype recvtype,
                   int source,
                   int recvtag,
                   MPI_Comm comm,
                   MPI_Request* request) {
  return call_on(comm, "MPI_Isendrecv", [&](RankState& self, Comm& c) {
    return both_nonblocking(self, c, {sendbuf, sendcount, sendtype, dest, sendtag},
                            {recvbuf, recvcount, recvtype, source, recvtag}, request);
  });
}

int PMPI_Sendrecv_replace(void* buf,
                          int count,
                          MPI_Datatype datatype,
                          int dest,
                          int sendtag,
                          int source,
                          int recvtag,
                          MPI_Comm comm,
                          MPI_Status* status) {
  return call_on(comm, "MPI_Sendrecv_replace", [&](RankState& self, Comm& c) {
    return replace(self, c, {buf, count, datatype, source, recvtag},
                   {nullptr, 0, MPI_BYTE, dest, sendtag}, status);
  });
}

int PMPI_Isendrecv_replace(void* buf,
                           int count,
                           MPI_Datatype datatype,
                           int dest,
                           int sendtag,
                           int source,
                           int recvtag,
                           MPI_Comm comm,
                           MPI_Request* request) {
  return call_on(comm, "MPI_Isendrecv_replace", [&](RankState& self, Comm& c) {
    return replace_nonblocking(self, c, {buf, count, datatype, source, recvtag},
                               {nullptr, 0, MPI_BYTE, dest, sendtag}, request);
  });
}

SORREL_WEAK(int,
            MPI_Isendrecv_replace,
            (void* buf,
             int count,
             MPI_Datatype datatype,
             int dest,
             int sendtag,
             int source,
             int recvtag,
             MPI_Comm comm,
             MPI_Request* request))
SORREL_WEAK(int,
            MPI_Recv,
            (void* buf,
             int count,
             MPI_Datatype datatype,
             int source,
             int tag,
             MPI_Comm comm,
             MPI_Status* status))
SORREL_WEAK(int,
            MPI_Irecv,
            (void* buf,
             int count,
             MPI_Datatype datatype,
             int source,
             int tag,
             MPI_Comm comm,
             MPI_Request* request))
SORREL_WEAK(int,
            MPI_Recv_init,
            (void* buf,
             int count,
             MPI_Datatype datatype,
             int source,
             int tag,
             MPI_Comm comm,
             MPI_Request* request))
SORREL_WEAK(int,
            MPI_Sendrecv,
            (const void* sendbuf,
             int sendcount,
             MPI_Datatype sendtype,
             int dest,
             int sendtag,
             void* recvbuf,
             int recvcount,
             MPI_Datatype recvtype,
             int source,
             int recvtag,
             MPI_Comm comm,
             MPI_Status* status))
SORREL_WEAK(int,
            MPI_Isendrecv,
            (const void* sendbuf,
             int sendcount,
             MPI_Datatype sendtype,
             int dest,
             int sendtag,
             void* recvbuf,
             int recvcount,
             MPI_Datatype recvtype,
             int source,
             int recvtag,
             MPI_Comm comm,
             MPI_Request* request))
SORREL_WEAK(int,
            MPI_Sendrecv_replace,
            (void* buf,
             int count,
             MPI_Datatype datatype,
             int dest,
             int sendtag,
             int source,
             int recvtag,
             MPI_Comm comm,
             MPI_Status* status))

}  // extern "C"

}  // namespace sorrel::abi
