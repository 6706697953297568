// Collective communication, the blocking forms. MPI 5.0, chapter 6.
#include "abi/body.hpp"
#include "abi/collective_calls.hpp"
#include "abi/reduction_bodies.hpp"

namespace sorrel::abi {

int all_reduce_checked(RankState& self, Comm& comm, const UserReduction& user) {
  return all_reduce(Blocking{{self, comm}}, user);
}

namespace body {

int Barrier(RankState& self, Comm& comm) {
  return barrier(Blocking{{self, comm}});
}

int Bcast(RankState& self, Comm& comm, const UserBuffer& user, int root) {
  return broadcast(Blocking{{self, comm}}, user, root);
}

int Gatherv(
    RankState& self, Comm& comm, const UserBuffer& send, const UserBlocks& receive, int root) {
  return gather(Blocking{{self, comm}}, send, receive, root);
}

int Gather(
    RankState& self, Comm& comm, const UserBuffer& send, const UserBuffer& receive, int root) {
  return gather(Blocking{{self, comm}}, send, {receive}, root);
}

int Allgatherv(RankState& self, Comm& comm, const UserBuffer& send, const UserBlocks& receive) {
  return all_gather(Blocking{{self, comm}}, send, receive);
}

int Allgather(RankState& self, Comm& comm, const UserBuffer& send, const UserBuffer& receive) {
  return all_gather(Blocking{{self, comm}}, send, {receive});
}

int Scatterv(
    RankState& self, Comm& comm, const UserBlocks& send, const UserBuffer& receive, int root) {
  return scatter(Blocking{{self, comm}}, send, receive, root);
}

int Scatter(
    RankState& self, Comm& comm, const UserBuffer& send, const UserBuffer& receive, int root) {
  return scatter(Blocking{{self, comm}}, {send}, receive, root);
}

int Alltoall(RankState& self, Comm& comm, const UserBuffer& send, const UserBuffer& receive) {
  return all_to_all(Blocking{{self, comm}}, CollectiveKind::alltoall, {send}, {receive});
}

int Alltoallv(RankState& self, Comm& comm, const UserBlocks& send, const UserBlocks& receive) {
  return all_to_all(Blocking{{self, comm}}, CollectiveKind::alltoallv, send, receive);
}

int Alltoallw(RankState& self, Comm& comm, const UserBlocks& send, const UserBlocks& receive) {
  return all_to_all(Blocking{{self, comm}}, CollectiveKind::alltoallw, send, receive);
}

int Reduce(RankState& self, Comm& comm, const UserReduction& user, int root) {
  return reduce(Blocking{{self, comm}}, user, root);
}

int Scan(RankState& self, Comm& comm, const UserReduction& user) {
  return scan(Blocking{{self, comm}}, user);
}

int Exscan(RankState& self, Comm& comm, const UserReduction& user) {
  return exclusive_scan(Blocking{{self, comm}}, user);
}

int Reduce_scatter(RankState& self,
                   Comm& comm,
                   const void* sendbuf,
                   void* recvbuf,
                   mpi::Integers recvcounts,
                   MPI_Datatype datatype,
                   MPI_Op op) {
  return reduce_scatter(Blocking{{self, comm}}, {sendbuf, recvbuf, 0, datatype, op}, recvcounts);
}

int Reduce_scatter_block(RankState& self, Comm& comm, const UserReduction& user) {
  return reduce_scatter_block(Blocking{{self, comm}}, user);
}

}  // namespace body

}  // namespace sorrel::abi
