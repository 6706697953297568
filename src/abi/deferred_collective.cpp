// Collective communication, the nonblocking and the persistent forms. MPI 5.0, 6.12 and 6.13.
#include "abi/deferred_collective.hpp"

#include "abi/body.hpp"
#include "mpi/job/comm_create.hpp"
#include "mpi/match/start.hpp"

namespace sorrel::abi {

int DeferredCollective::launch(mpi::CollectiveOperation& operation) const {
  const auto& [self, comm] = member;
  mpi::Request& made = operation.make_request(self, comm);
  int error = MPI_SUCCESS;
  if (form == mpi::CollectiveForm::persistent) {
    Comm* own_shadow = nullptr;
    if (!is_alone(comm)) {
      comm.call = operation.call();
      error = mpi::make_shadow(self, comm, &own_shadow);
    }
    operation.become_persistent(own_shadow);
  } else {
    activate(made);
    error = operation.start();
  }
  if (error != MPI_SUCCESS) {
    made.is_active = false;
    mpi::end_operation(made);
    return error;
  }
  *request = handle_of(made);
  return MPI_SUCCESS;
}

namespace {

DeferredCollective nonblocking(RankState& self, Comm& comm, MPI_Request* request) {
  return {.member = {self, comm}, .request = request};
}

DeferredCollective persistent(RankState& self, Comm& comm, MPI_Info info, MPI_Request* request) {
  return {.member = {self, comm},
          .request = request,
          .form = mpi::CollectiveForm::persistent,
          .info = info};
}

}  // namespace

namespace body {

int Ibarrier(RankState& self, Comm& comm, MPI_Request* request) {
  return barrier(nonblocking(self, comm, request));
}

int Ibcast(RankState& self, Comm& comm, const UserBuffer& user, int root, MPI_Request* request) {
  return broadcast(nonblocking(self, comm, request), user, root);
}

int Igather(RankState& self,
            Comm& comm,
            const UserBuffer& send,
            const UserBuffer& receive,
            int root,
            MPI_Request* request) {
  return gather(nonblocking(self, comm, request), send, {receive}, root);
}

int Igatherv(RankState& self,
             Comm& comm,
             const UserBuffer& send,
             const UserBlocks& receive,
             int root,
             MPI_Request* request) {
  return gather(nonblocking(self, comm, request), send, receive, root);
}

int Iscatter(RankState& self,
             Comm& comm,
             const UserBuffer& send,
             const UserBuffer& receive,
             int root,
             MPI_Request* request) {
  return scatter(nonblocking(self, comm, request), {send}, receive, root);
}

int Iscatterv(RankState& self,
              Comm& comm,
              const UserBlocks& send,
              const UserBuffer& receive,
              int root,
              MPI_Request* request) {
  return scatter(nonblocking(self, comm, request), send, receive, root);
}

int Iallgather(RankState& self,
               Comm& comm,
               const UserBuffer& send,
               const UserBuffer& receive,
               MPI_Request* request) {
  return all_gather(nonblocking(self, comm, request), send, {receive});
}

int Iallgatherv(RankState& self,
                Comm& comm,
                const UserBuffer& send,
                const UserBlocks& receive,
                MPI_Request* request) {
  return all_gather(nonblocking(self, comm, request), send, receive);
}

int Ialltoall(RankState& self,
              Comm& comm,
              const UserBuffer& send,
              const UserBuffer& receive,
              MPI_Request* request) {
  return all_to_all(nonblocking(self, comm, request), CollectiveKind::alltoall, {send}, {receive});
}

int Ialltoallv(RankState& self,
               Comm& comm,
               const UserBlocks& send,
               const UserBlocks& receive,
               MPI_Request* request) {
  return all_to_all(nonblocking(self, comm, request), CollectiveKind::alltoallv, send, receive);
}

int Ialltoallw(RankState& self,
               Comm& comm,
               const UserBlocks& send,
               const UserBlocks& receive,
               MPI_Request* request) {
  return all_to_all(nonblocking(self, comm, request), CollectiveKind::alltoallw, send, receive);
}

int Ireduce(
    RankState& self, Comm& comm, const UserReduction& user, int root, MPI_Request* request) {
  return reduce(nonblocking(self, comm, request), user, root);
}

int Iallreduce(RankState& self, Comm& comm, const UserReduction& user, MPI_Request* request) {
  return all_reduce(nonblocking(self, comm, request), user);
}

int Ireduce_scatter(RankState& self,
                    Comm& comm,
                    const void* sendbuf,
                    void* recvbuf,
                    mpi::Integers recvcounts,
                    MPI_Datatype datatype,
                    MPI_Op op,
                    MPI_Request* request) {
  return reduce_scatter(nonblocking(self, comm, request), {sendbuf, recvbuf, 0, datatype, op},
                        recvcounts);
}

int Ireduce_scatter_block(RankState& self,
                          Comm& comm,
                          const UserReduction& user,
                          MPI_Request* request) {
  return reduce_scatter_block(nonblocking(self, comm, request), user);
}

int Iscan(RankState& self, Comm& comm, const UserReduction& user, MPI_Request* request) {
  return scan(nonblocking(self, comm, request), user);
}

int Iexscan(RankState& self, Comm& comm, const UserReduction& user, MPI_Request* request) {
  return exclusive_scan(nonblocking(self, comm, request), user);
}

int Barrier_init(RankState& self, Comm& comm, MPI_Info info, MPI_Request* request) {
  return barrier(persistent(self, comm, info, request));
}

int Bcast_init(RankState& self,
               Comm& comm,
               const UserBuffer& user,
               int root,
               MPI_Info info,
               MPI_Request* request) {
  return broadcast(persistent(self, comm, info, request), user, root);
}

int Gather_init(RankState& self,
                Comm& comm,
                const UserBuffer& send,
                const UserBuffer& receive,
                int root,
                MPI_Info info,
                MPI_Request* request) {
  return gather(persistent(self, comm, info, request), send, {receive}, root);
}

int Gatherv_init(RankState& self,
                 Comm& comm,
                 const UserBuffer& send,
                 const UserBlocks& receive,
                 int root,
                 MPI_Info info,
                 MPI_Request* request) {
  return gather(persistent(self, comm, info, request), send, receive, root);
}

int Scatter_init(RankState& self,
                 Comm& comm,
                 const UserBuffer& send,
                 const UserBuffer& receive,
                 int root,
                 MPI_Info info,
                 MPI_Request* request) {
  return scatter(persistent(self, comm, info, request), {send}, receive, root);
}

int Scatterv_init(RankState& self,
                  Comm& comm,
                  const UserBlocks& send,
                  const UserBuffer& receive,
                  int root,
                  MPI_Info info,
                  MPI_Request* request) {
  return scatter(persistent(self, comm, info, request), send, receive, root);
}

int Allgather_init(RankState& self,
                   Comm& comm,
                   const UserBuffer& send,
                   const UserBuffer& receive,
                   MPI_Info info,
                   MPI_Request* request) {
  return all_gather(persistent(self, comm, info, request), send, {receive});
}

int Allgatherv_init(RankState& self,
                    Comm& comm,
                    const UserBuffer& send,
                    const UserBlocks& receive,
                    MPI_Info info,
                    MPI_Request* request) {
  return all_gather(persistent(self, comm, info, request), send, receive);
}

int Alltoall_init(RankState& self,
                  Comm& comm,
                  const UserBuffer& send,
                  const UserBuffer& receive,
                  MPI_Info info,
                  MPI_Request* request) {
  return all_to_all(persistent(self, comm, info, request), CollectiveKind::alltoall, {send},
                    {receive});
}

int Alltoallv_init(RankState& self,
                   Comm& comm,
                   const UserBlocks& send,
                   const UserBlocks& receive,
                   MPI_Info info,
                   MPI_Request* request) {
  return all_to_all(persistent(self, comm, info, request), CollectiveKind::alltoallv, send,
                    receive);
}

int Alltoallw_init(RankState& self,
                   Comm& comm,
                   const UserBlocks& send,
                   const UserBlocks& receive,
                   MPI_Info info,
                   MPI_Request* request) {
  return all_to_all(persistent(self, comm, info, request), CollectiveKind::alltoallw, send,
                    receive);
}

int Reduce_init(RankState& self,
                Comm& comm,
                const UserReduction& user,
                int root,
                MPI_Info info,
                MPI_Request* request) {
  return reduce(persistent(self, comm, info, request), user, root);
}

int Allreduce_init(
    RankState& self, Comm& comm, const UserReduction& user, MPI_Info info, MPI_Request* request) {
  return all_reduce(persistent(self, comm, info, request), user);
}

int Reduce_scatter_init(RankState& self,
                        Comm& comm,
                        const void* sendbuf,
                        void* recvbuf,
                        mpi::Integers recvcounts,
                        MPI_Datatype datatype,
                        MPI_Op op,
                        MPI_Info info,
                        MPI_Request* request) {
  return reduce_scatter(persistent(self, comm, info, request), {sendbuf, recvbuf, 0, datatype, op},
                        recvcounts);
}

int Reduce_scatter_block_init(
    RankState& self, Comm& comm, const UserReduction& user, MPI_Info info, MPI_Request* request) {
  return reduce_scatter_block(persistent(self, comm, info, request), user);
}

int Scan_init(
    RankState& self, Comm& comm, const UserReduction& user, MPI_Info info, MPI_Request* request) {
  return scan(persistent(self, comm, info, request), user);
}

int Exscan_init(
    RankState& self, Comm& comm, const UserReduction& user, MPI_Info info, MPI_Request* request) {
  return exclusive_scan(persistent(self, comm, info, request), user);
}

}  // namespace body

}  // namespace sorrel::abi
