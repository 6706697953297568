// Intercommunicators. MPI 5.0, 7.6.
#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/job/intercomm.hpp"

namespace sorrel::abi {
namespace {

int fail_intra(RankState& self) {
  return self.fail(MPI_ERR_COMM, "comm is an intracommunicator; it must be an intercommunicator");
}

}  // namespace

namespace body {

int Comm_test_inter(RankState& /*self*/, Comm& comm, int* flag) {
  *flag = comm.inter != nullptr ? 1 : 0;
  return MPI_SUCCESS;
}

int Comm_remote_size(RankState& self, Comm& comm, int* size) {
  if (comm.inter == nullptr) return fail_intra(self);
  *size = comm.size();
  return MPI_SUCCESS;
}

int Comm_remote_group(RankState& self, Comm& comm, MPI_Group* group) {
  if (comm.inter == nullptr) return fail_intra(self);
  *group =
      mpi::make_group_handle({.group = comm.shared->group(), .session_sends = comm.session_sends});
  return MPI_SUCCESS;
}

int Intercomm_create(RankState& self,
                     Comm& comm,
                     int local_leader,
                     MPI_Comm peer_comm,
                     int remote_leader,
                     int tag,
                     MPI_Comm* newintercomm) {
  if (const int error = check_rank(self, comm, "local_leader", local_leader); error != MPI_SUCCESS)
    return error;
  if (!is_tag(tag)) return fail_tag(self, tag);
  // What only the leader knows is checked where all members get the error.
  Comm* peer = comm.rank == local_leader ? self.comm_of(peer_comm) : nullptr;
  Comm* made = nullptr;
  const int error = intercomm_create(self, comm, local_leader,
                                     {.comm = peer, .rank = remote_leader, .tag = tag}, &made);
  *newintercomm = handle_or_null(made);
  return error;
}

int Intercomm_merge(RankState& self, Comm& comm, int high, MPI_Comm* newintracomm) {
  if (comm.inter == nullptr) return fail_intra(self);
  Comm* made = nullptr;
  const int error = intercomm_merge(self, comm, high != 0, &made);
  *newintracomm = handle_or_null(made);
  return error;
}

}  // namespace body

}  // namespace sorrel::abi
