//! The bodies of the sends: blocking, nonblocking and persistent, in every mode. MPI 5.0, 3.2, 3.4,
//! 3.7, 3.9.
//!
//! Inlined into their bindings, because every message passes through them.
#pragma once

#include "abi/body.hpp"
#include "abi/p2p_arguments.hpp"
#include "mpi/match/buffered.hpp"
#include "mpi/match/start.hpp"

namespace sorrel::abi {

[[gnu::always_inline]] inline int send_blocking(RankState& self,
                                                Comm& comm,
                                                const UserSend& user,
                                                mpi::SendMode mode) {
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  if (user.destination == MPI_PROC_NULL) return MPI_SUCCESS;
  if (mode == mpi::SendMode::buffered) return buffered_send(self, comm, arguments_of(user, *type));
  send(self, comm, arguments_of(user, *type), mode);
  return MPI_SUCCESS;
}

[[gnu::always_inline]] inline int send_nonblocking(
    RankState& self, Comm& comm, const UserSend& user, mpi::SendMode mode, MPI_Request* request) {
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  const mpi::SendArguments arguments = arguments_of(user, *type);
  if (mode == mpi::SendMode::buffered && user.destination != MPI_PROC_NULL) {
    // The copy is made at once or never, so the request has nothing to wait for.
    *request = MPI_REQUEST_NULL;
    if (const int error = buffered_send(self, comm, arguments); error != MPI_SUCCESS) return error;
    *request = handle_of(*self.worker_state->finished_send);
    return MPI_SUCCESS;
  }
  if (user.destination == MPI_PROC_NULL || try_send_inlined(self, comm, arguments, mode)) {
    *request = handle_of(*self.worker_state->finished_send);
    return MPI_SUCCESS;
  }
  *request = handle_of(start_send_by_reference(self, comm, arguments, mode));
  return MPI_SUCCESS;
}

int send_persistent(
    RankState& self, Comm& comm, const UserSend& user, mpi::SendMode mode, MPI_Request* request) {
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  const mpi::SendArguments arguments = arguments_of(user, *type);
  mpi::Request& made = take_persistent_request(self, comm, *type);
  describe_send(made, self, comm, arguments, mode);
  *request = handle_of(made);
  return MPI_SUCCESS;
}

namespace body {

#define SORREL_SEND_BODIES(blocking_name, nonblocking_name, persistent_name, mode)                 \
  [[gnu::always_inline]] inline int blocking_name(RankState& self, Comm& comm,                     \
                                                  const UserSend& user) {                          \
    return send_blocking(self, comm, user, mode);                                                  \
  }                                                                                                \
  [[gnu::always_inline]] inline int nonblocking_name(RankState& self, Comm& comm,                  \
                                                     const UserSend& user, MPI_Request* request) { \
    return send_nonblocking(self, comm, user, mode, request);                                      \
  }                                                                                                \
  inline int persistent_name(RankState& self, Comm& comm, const UserSend& user,                    \
                             MPI_Request* request) {                                               \
    return send_persistent(self, comm, user, mode, request);                                       \
  }

SORREL_SEND_BODIES(Send, Isend, Send_init, mpi::SendMode::standard)
SORREL_SEND_BODIES(Ssend, Issend, Ssend_init, mpi::SendMode::synchronous)
SORREL_SEND_BODIES(Rsend, Irsend, Rsend_init, mpi::SendMode::standard)
SORREL_SEND_BODIES(Bsend, Ibsend, Bsend_init, mpi::SendMode::buffered)

#undef SORREL_SEND_BODIES

}  // namespace body

}  // namespace sorrel::abi
