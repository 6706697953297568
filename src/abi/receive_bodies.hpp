//! The bodies of MPI_Recv and MPI_Irecv. MPI 5.0, 3.2, 3.7.
//!
//! Inlined into their bindings, because every message passes through them. Each function between a
//! call that waits and the switch to another rank costs a mispredicted return.
#pragma once

#include "abi/body.hpp"
#include "abi/p2p_arguments.hpp"
#include "mpi/match/start.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::abi::body {

[[gnu::always_inline]] inline int Recv(RankState& self,
                                       Comm& comm,
                                       const UserReceive& user,
                                       MPI_Status* status) {
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  // On the stack: a blocking receive ends before its caller returns.
  mpi::Request request;
  describe_receive(request, self, comm, arguments_of(user, *type));
  if (user.source != MPI_PROC_NULL) {
    start_receive(request);
    wait_for(request);
  }
  return give_result(self, request, status);
}

[[gnu::always_inline]] inline int Irecv(RankState& self,
                                        Comm& comm,
                                        const UserReceive& user,
                                        MPI_Request* handle) {
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  mpi::Request& request = make_receive(self, comm, arguments_of(user, *type));
  activate(request);
  *handle = handle_of(request);
  if (user.source == MPI_PROC_NULL) {
    complete(request);
  } else {
    start_receive(request);
  }
  return MPI_SUCCESS;
}

}  // namespace sorrel::abi::body
