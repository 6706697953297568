// Receives, and combined sends and receives. MPI 5.0, 3.2, 3.7, 3.9, 3.10.
#include "abi/body.hpp"
#include "abi/p2p_arguments.hpp"
#include "mpi/match/send_receive.hpp"
#include "mpi/match/start.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::abi {

namespace {

using mpi::Request;

/// The types of a combined send and receive.
struct Types {
  mpi::Datatype* send = nullptr;
  mpi::Datatype* receive = nullptr;
};

int check_both(RankState& self,
               const Comm& comm,
               const UserSend& send,
               const UserReceive& receive,
               Types* types) {
  const int error = check(self, comm, send, &types->send);
  return error != MPI_SUCCESS ? error : check(self, comm, receive, &types->receive);
}

/// For the forms that replace the data: it has one type.
int check_replaced(RankState& self,
                   const Comm& comm,
                   const UserReceive& receive,
                   const mpi::ReplacedData& replaced,
                   mpi::Datatype** type) {
  const UserSend send{receive.buffer, receive.count, receive.datatype, replaced.destination,
                      replaced.tag};
  Types types;
  const int error = check_both(self, comm, send, receive, &types);
  *type = types.receive;
  return error;
}

}  // namespace

namespace body {

int Recv_init(RankState& self, Comm& comm, const UserReceive& user, MPI_Request* request) {
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  Request& made = take_persistent_request(self, comm, *type);
  describe_receive(made, self, comm, arguments_of(user, *type));
  *request = handle_of(made);
  return MPI_SUCCESS;
}

int Sendrecv(RankState& self,
             Comm& comm,
             const UserSend& send,
             const UserReceive& receive,
             MPI_Status* status) {
  Types types;
  if (const int error = check_both(self, comm, send, receive, &types); error != MPI_SUCCESS)
    return error;
  Request request;
  send_receive(self, comm, arguments_of(send, *types.send), arguments_of(receive, *types.receive),
               request);
  return give_result(self, request, status);
}

int Isendrecv(RankState& self,
              Comm& comm,
              const UserSend& send,
              const UserReceive& receive,
              MPI_Request* request) {
  Types types;
  if (const int error = check_both(self, comm, send, receive, &types); error != MPI_SUCCESS)
    return error;
  return start_send_receive(self, comm, arguments_of(send, *types.send),
                            arguments_of(receive, *types.receive), request);
}

int Sendrecv_replace(RankState& self,
                     Comm& comm,
                     const UserBuffer& user,
                     int dest,
                     int sendtag,
                     int source,
                     int recvtag,
                     MPI_Status* status) {
  const mpi::ReplacedData sent{dest, sendtag};
  const UserReceive receive{user.buffer, user.count, user.datatype, source, recvtag};
  mpi::Datatype* type = nullptr;
  if (const int error = check_replaced(self, comm, receive, sent, &type); error != MPI_SUCCESS)
    return error;
  Request request;
  const int error = replace(self, comm, sent, arguments_of(receive, *type), request);
  return error != MPI_SUCCESS ? error : give_result(self, request, status);
}

int Isendrecv_replace(RankState& self,
                      Comm& comm,
                      const UserBuffer& user,
                      int dest,
                      int sendtag,
                      int source,
                      int recvtag,
                      MPI_Request* request) {
  const mpi::ReplacedData sent{dest, sendtag};
  const UserReceive receive{user.buffer, user.count, user.datatype, source, recvtag};
  mpi::Datatype* type = nullptr;
  if (const int error = check_replaced(self, comm, receive, sent, &type); error != MPI_SUCCESS)
    return error;
  return start_replace(self, comm, sent, arguments_of(receive, *type), request);
}

}  // namespace body

}  // namespace sorrel::abi
