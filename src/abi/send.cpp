// Point-to-point sends: blocking, nonblocking and persistent, in every mode.
// MPI 5.0, 3.2, 3.4, 3.7, 3.9.
#include "abi/call.hpp"
#include "abi/p2p_arguments.hpp"
#include "mpi/match/buffered.hpp"
#include "mpi/match/start.hpp"

namespace sorrel::abi {

namespace {

using mpi::Request;
using mpi::SendArguments;
using mpi::SendMode;

[[gnu::always_inline]] inline int blocking(RankState& self,
                                           Comm& comm,
                                           const UserSend& user,
                                           SendMode mode) {
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  if (user.destination == MPI_PROC_NULL) return MPI_SUCCESS;
  if (mode == SendMode::buffered) return buffered_send(self, comm, arguments_of(user, *type));
  send(self, comm, arguments_of(user, *type), mode);
  return MPI_SUCCESS;
}

[[gnu::always_inline]] inline int nonblocking(
    RankState& self, Comm& comm, const UserSend& user, SendMode mode, MPI_Request* request) {
  SORREL_NOT_NULL(request);
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  const SendArguments arguments = arguments_of(user, *type);
  if (mode == SendMode::buffered && user.destination != MPI_PROC_NULL) {
    // The copy is made at once or never, so the request has nothing to wait for.
    *request = MPI_REQUEST_NULL;
    if (const int error = buffered_send(self, comm, arguments); error != MPI_SUCCESS) return error;
    *request = handle_of(*self.worker_state->finished_send);
    return MPI_SUCCESS;
  }
  if (user.destination == MPI_PROC_NULL || try_send(self, comm, arguments, mode)) {
    *request = handle_of(*self.worker_state->finished_send);
    return MPI_SUCCESS;
  }
  Request& made = make_send(self, comm, arguments, mode);
  made.is_active = true;
  *request = handle_of(made);
  start_send_by_reference(made);
  return MPI_SUCCESS;
}

int persistent(
    RankState& self, Comm& comm, const UserSend& user, SendMode mode, MPI_Request* request) {
  SORREL_NOT_NULL(request);
  mpi::Datatype* type = nullptr;
  if (const int error = check(self, comm, user, &type); error != MPI_SUCCESS) return error;
  Request& made = make_send(self, comm, arguments_of(user, *type), mode);
  made.life = Request::Life::persistent;
  *request = handle_of(made);
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

// Three bindings for each of the four modes, with counts of either kind.
#define SORREL_SEND_PARAMETERS(Count) \
  const void *buf, Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm

#define SORREL_SEND_BINDINGS_OF(blocking_name, nonblocking_name, persistent_name, mode, Count) \
  int P##blocking_name(SORREL_SEND_PARAMETERS(Count)) {                                        \
    return call_on(comm, #blocking_name, [&](RankState& self, Comm& c) {                       \
      return blocking(self, c, {buf, count, datatype, dest, tag}, mode);                       \
    });                                                                                        \
  }                                                                                            \
  int P##nonblocking_name(SORREL_SEND_PARAMETERS(Count), MPI_Request* request) {               \
    return call_on(comm, #nonblocking_name, [&](RankState& self, Comm& c) {                    \
      return nonblocking(self, c, {buf, count, datatype, dest, tag}, mode, request);           \
    });                                                                                        \
  }                                                                                            \
  int P##persistent_name(SORREL_SEND_PARAMETERS(Count), MPI_Request* request) {                \
    return call_on(comm, #persistent_name, [&](RankState& self, Comm& c) {                     \
      return persistent(self, c, {buf, count, datatype, dest, tag}, mode, request);            \
    });                                                                                        \
  }                                                                                            \
  SORREL_WEAK(int, blocking_name, (SORREL_SEND_PARAMETERS(Count)))                             \
  SORREL_WEAK(int, nonblocking_name, (SORREL_SEND_PARAMETERS(Count), MPI_Request * request))   \
  SORREL_WEAK(int, persistent_name, (SORREL_SEND_PARAMETERS(Count), MPI_Request * request))

#define SORREL_SEND_BINDINGS(blocking_name, nonblocking_name, persistent_name, mode)          \
  SORREL_SEND_BINDINGS_OF(blocking_name, nonblocking_name, persistent_name, mode, int)        \
  SORREL_SEND_BINDINGS_OF(blocking_name##_c, nonblocking_name##_c, persistent_name##_c, mode, \
                          MPI_Count)

SORREL_SEND_BINDINGS(MPI_Send, MPI_Isend, MPI_Send_init, SendMode::standard)
SORREL_SEND_BINDINGS(MPI_Ssend, MPI_Issend, MPI_Ssend_init, SendMode::synchronous)
SORREL_SEND_BINDINGS(MPI_Rsend, MPI_Irsend, MPI_Rsend_init, SendMode::standard)
SORREL_SEND_BINDINGS(MPI_Bsend, MPI_Ibsend, MPI_Bsend_init, SendMode::buffered)

}  // extern "C"

}  // namespace sorrel::abi
