// Collective communication: arguments checked as far as one rank can see, then mpi/collectives.
// MPI 5.0, chapter 6.
#include "mpi/collectives/collectives.hpp"

#include "abi/call.hpp"
#include "abi/check.hpp"

namespace sorrel::abi {

namespace {

using mpi::BlockList;
using mpi::Datatype;
using mpi::Op;
using mpi::ReductionArguments;
using mpi::ScanKind;
using mpi::TypedBuffer;

int check_typed(
    RankState& self, const void* buffer, int count, MPI_Datatype handle, TypedBuffer* typed) {
  Datatype* type = nullptr;
  const int error = check_buffer(self, buffer, count, handle, &type);
  *typed = {
      .buffer = const_cast<void*>(buffer), .count = static_cast<std::size_t>(count), .type = type};
  return error;
}

/// The side of a collective that has a block per rank, as the user gave it.
struct UserBlocks {
  const void* buffer;
  int count;
  MPI_Datatype datatype;
  const int* counts = nullptr;
  const int* displacements = nullptr;
  const MPI_Datatype* datatypes = nullptr;
};

int check_type(RankState& self, MPI_Datatype handle, Datatype** type) {
  *type = mpi::datatype_from_handle(handle);
  if (*type == nullptr) return fail_datatype(self, handle);
  return (*type)->is_committed() ? MPI_SUCCESS : fail_uncommitted(self);
}

int check_blocks(RankState& self, const Comm& comm, const UserBlocks& user, BlockList* blocks) {
  Datatype* type = nullptr;
  if (user.datatypes == nullptr) {
    if (const int error = check_type(self, user.datatype, &type); error != MPI_SUCCESS)
      return error;
  }
  if (user.counts == nullptr && user.count < 0) return fail_count(self, user.count);
  for (int i = 0; i < comm.size(); ++i) {
    if (user.counts != nullptr && user.counts[i] < 0) return fail_count(self, user.counts[i]);
    if (user.datatypes != nullptr) {
      if (const int error = check_type(self, user.datatypes[i], &type); error != MPI_SUCCESS)
        return error;
    }
    if (user.counts == nullptr && user.datatypes == nullptr) break;
  }
  *blocks = {.buffer = const_cast<void*>(user.buffer),
             .count = static_cast<std::size_t>(user.count),
             .type = type,
             .counts = user.counts,
             .displacements = user.displacements,
             .types = user.datatypes};
  return MPI_SUCCESS;
}

int note_truncation(RankState& self, int error) {
  if (error != MPI_ERR_TRUNCATE) return error;
  return self.fail(error, "a rank sends more than this rank's count receives");
}

bool is_in_place(const void* buffer) {
  return buffer == MPI_IN_PLACE;
}

int gather_face(RankState& self,
                Comm& comm,
                const TypedBuffer& user_send,
                MPI_Datatype send_type,
                const UserBlocks& user,
                int root) {
  if (const int error = check_root(self, comm, root); error != MPI_SUCCESS) return error;
  BlockList receive;
  if (comm.rank == root) {
    if (const int error = check_blocks(self, comm, user, &receive); error != MPI_SUCCESS)
      return error;
  }
  const bool in_place = comm.rank == root && is_in_place(user_send.buffer);
  TypedBuffer send;
  if (!in_place) {
    const int error =
        check_typed(self, user_send.buffer, static_cast<int>(user_send.count), send_type, &send);
    if (error != MPI_SUCCESS) return error;
  }
  return note_truncation(self, gather({self, comm}, in_place ? nullptr : &send, receive, root));
}

int all_gather_face(RankState& self,
                    Comm& comm,
                    const TypedBuffer& user_send,
                    MPI_Datatype send_type,
                    const UserBlocks& user) {
  BlockList receive;
  if (const int error = check_blocks(self, comm, user, &receive); error != MPI_SUCCESS)
    return error;
  const bool in_place = is_in_place(user_send.buffer);
  TypedBuffer send;
  if (!in_place) {
    const int error =
        check_typed(self, user_send.buffer, static_cast<int>(user_send.count), send_type, &send);
    if (error != MPI_SUCCESS) return error;
  }
  return note_truncation(self, all_gather({self, comm}, in_place ? nullptr : &send, receive));
}

int scatter_face(RankState& self,
                 Comm& comm,
                 const UserBlocks& user,
                 const TypedBuffer& user_receive,
                 MPI_Datatype receive_type,
                 int root) {
  if (const int error = check_root(self, comm, root); error != MPI_SUCCESS) return error;
  BlockList send;
  if (comm.rank == root) {
    if (const int error = check_blocks(self, comm, user, &send); error != MPI_SUCCESS) return error;
  }
  const bool in_place = comm.rank == root && is_in_place(user_receive.buffer);
  TypedBuffer receive;
  if (!in_place) {
    const int error = check_typed(self, user_receive.buffer, static_cast<int>(user_receive.count),
                                  receive_type, &receive);
    if (error != MPI_SUCCESS) return error;
  }
  return note_truncation(self, scatter({self, comm}, send, in_place ? nullptr : &receive, root));
}

int all_to_all_face(RankState& self,
                    Comm& comm,
                    const UserBlocks& user_send,
                    const UserBlocks& user_receive) {
  BlockList receive;
  BlockList send;
  if (const int error = check_blocks(self, comm, user_receive, &receive); error != MPI_SUCCESS)
    return error;
  const bool in_place = is_in_place(user_send.buffer);
  if (!in_place) {
    if (const int error = check_blocks(self, comm, user_send, &send); error != MPI_SUCCESS)
      return error;
  }
  return note_truncation(self, all_to_all({self, comm}, in_place ? nullptr : &send, receive));
}

/// The arguments that every reduction has.
struct UserReduction {
  const void* send;
  void* receive;
  int count;
  MPI_Datatype datatype;
  MPI_Op op;
};

/// Checks them and runs body(ReductionArguments).
template <class Body>
int with_reduction(RankState& self, const UserReduction& user, Body&& body) {
  TypedBuffer typed;
  const void* checked = is_in_place(user.send) ? user.receive : user.send;
  if (const int error = check_typed(self, checked, user.count, user.datatype, &typed);
      error != MPI_SUCCESS)
    return error;
  const Op* op = mpi::op_from_handle(user.op);
  if (op == nullptr) return self.fail(MPI_ERR_OP, "the handle is no operation");
  const mpi::ReduceKernel kernel = predefined_kernel(*op, *typed.type);
  if (kernel == nullptr && op->is_predefined()) {
    return self.fail(MPI_ERR_OP, "the operation is not defined on datatype %s", typed.type->name());
  }
  body(ReductionArguments{.send = is_in_place(user.send) ? nullptr : user.send,
                          .receive = user.receive,
                          .count = typed.count,
                          .type = *typed.type,
                          .op = *op,
                          .kernel = kernel});
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int PMPI_Barrier(MPI_Comm comm) {
  return call_on(comm, "MPI_Barrier", [&](RankState& self, Comm& c) {
    mpi::barrier({self, c});
    return MPI_SUCCESS;
  });
}

int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return call_on(comm, "MPI_Bcast", [&](RankState& self, Comm& c) {
    TypedBuffer typed;
    if (const int error = check_root(self, c, root); error != MPI_SUCCESS) return error;
    if (const int error = check_typed(self, buffer, count, datatype, &typed); error != MPI_SUCCESS)
      return error;
    return note_truncation(self, broadcast({self, c}, typed, root));
  });
}

int PMPI_Gather(const void* sendbuf,
                int sendcount,
                MPI_Datatype sendtype,
                void* recvbuf,
                int recvcount,
                MPI_Datatype recvtype,
                int root,
                MPI_Comm comm) {
  return call_on(comm, "MPI_Gather", [&](RankState& self, Comm& c) {
    return gather_face(self, c, {const_cast<void*>(sendbuf), static_cast<std::size_t>(sendcount)},
                       sendtype, {recvbuf, recvcount, recvtype}, root);
  });
}

int PMPI_Gatherv(const void* sendbuf,
                 int sendcount,
                 MPI_Datatype sendtype,
                 void* recvbuf,
                 const int recvcounts[],
                 const int displs[],
                 MPI_Datatype recvtype,
                 int root,
                 MPI_Comm comm) {
  return call_on(comm, "MPI_Gatherv", [&](RankState& self, Comm& c) {
    return gather_face(self, c, {const_cast<void*>(sendbuf), static_cast<std::size_t>(sendcount)},
                       sendtype, {recvbuf, 0, recvtype, recvcounts, displs}, root);
  });
}

int PMPI_Allgather(const void* sendbuf,
                   int sendcount,
                   MPI_Datatype sendtype,
                   void* recvbuf,
                   int recvcount,
                   MPI_Datatype recvtype,
                   MPI_Comm comm) {
  return call_on(comm, "MPI_Allgather", [&](RankState& self, Comm& c) {
    return all_gather_face(self, c,
                           {const_cast<void*>(sendbuf), static_cast<std::size_t>(sendcount)},
                           sendtype, {recvbuf, recvcount, recvtype});
  });
}

int PMPI_Allgatherv(const void* sendbuf,
                    int sendcount,
                    MPI_Datatype sendtype,
                    void* recvbuf,
                    const int recvcounts[],
                    const int displs[],
                    MPI_Datatype recvtype,
                    MPI_Comm comm) {
  return call_on(comm, "MPI_Allgatherv", [&](RankState& self, Comm& c) {
    return all_gather_face(self, c,
                           {const_cast<void*>(sendbuf), static_cast<std::size_t>(sendcount)},
                           sendtype, {recvbuf, 0, recvtype, recvcounts, displs});
  });
}

int PMPI_Scatter(const void* sendbuf,
                 int sendcount,
                 MPI_Datatype sendtype,
                 void* recvbuf,
                 int recvcount,
                 MPI_Datatype recvtype,
                 int root,
                 MPI_Comm comm) {
  return call_on(comm, "MPI_Scatter", [&](RankState& self, Comm& c) {
    return scatter_face(self, c, {sendbuf, sendcount, sendtype},
                        {recvbuf, static_cast<std::size_t>(recvcount)}, recvtype, root);
  });
}

int PMPI_Scatterv(const void* sendbuf,
                  const int sendcounts[],
                  const int displs[],
                  MPI_Datatype sendtype,
                  void* recvbuf,
                  int recvcount,
                  MPI_Datatype recvtype,
                  int root,
                  MPI_Comm comm) {
  return call_on(comm, "MPI_Scatterv", [&](RankState& self, Comm& c) {
    return scatter_face(self, c, {sendbuf, 0, sendtype, sendcounts, displs},
                        {recvbuf, static_cast<std::size_t>(recvcount)}, recvtype, root);
  });
}

int PMPI_Alltoall(const void* sendbuf,
                  int sendcount,
                  MPI_Datatype sendtype,
                  void* recvbuf,
                  int recvcount,
                  MPI_Datatype recvtype,
                  MPI_Comm comm) {
  return call_on(comm, "MPI_Alltoall", [&](RankState& self, Comm& c) {
    return all_to_all_face(self, c, {sendbuf, sendcount, sendtype}, {recvbuf, recvcount, recvtype});
  });
}

int PMPI_Alltoallv(const void* sendbuf,
                   const int sendcounts[],
                   const int sdispls[],
                   MPI_Datatype sendtype,
                   void* recvbuf,
                   const int recvcounts[],
                   const int rdispls[],
                   MPI_Datatype recvtype,
                   MPI_Comm comm) {
  return call_on(comm, "MPI_Alltoallv", [&](RankState& self, Comm& c) {
    return all_to_all_face(self, c, {sendbuf, 0, sendtype, sendcounts, sdispls},
                           {recvbuf, 0, recvtype, recvcounts, rdispls});
  });
}

int PMPI_Alltoallw(const void* sendbuf,
                   const int sendcounts[],
                   const int sdispls[],
                   const MPI_Datatype sendtypes[],
                   void* recvbuf,
                   const int recvcounts[],
                   const int rdispls[],
                   const MPI_Datatype recvtypes[],
                   MPI_Comm comm) {
  return call_on(comm, "MPI_Alltoallw", [&](RankState& self, Comm& c) {
    return all_to_all_face(self, c, {sendbuf, 0, MPI_DATATYPE_NULL, sendcounts, sdispls, sendtypes},
                           {recvbuf, 0, MPI_DATATYPE_NULL, recvcounts, rdispls, recvtypes});
  });
}

int PMPI_Reduce(const void* sendbuf,
                void* recvbuf,
                int count,
                MPI_Datatype datatype,
                MPI_Op op,
                int root,
                MPI_Comm comm) {
  return call_on(comm, "MPI_Reduce", [&](RankState& self, Comm& c) {
    if (const int error = check_root(self, c, root); error != MPI_SUCCESS) return error;
    return with_reduction(
        self, {sendbuf, recvbuf, count, datatype, op},
        [&](const ReductionArguments& arguments) { reduce_to_root({self, c}, arguments, root); });
  });
}

int PMPI_Allreduce(const void* sendbuf,
                   void* recvbuf,
                   int count,
                   MPI_Datatype datatype,
                   MPI_Op op,
                   MPI_Comm comm) {
  return call_on(comm, "MPI_Allreduce", [&](RankState& self, Comm& c) {
    return with_reduction(
        self, {sendbuf, recvbuf, count, datatype, op},
        [&](const ReductionArguments& arguments) { all_reduce({self, c}, arguments); });
  });
}

int PMPI_Scan(const void* sendbuf,
              void* recvbuf,
              int count,
              MPI_Datatype datatype,
              MPI_Op op,
              MPI_Comm comm) {
  return call_on(comm, "MPI_Scan", [&](RankState& self, Comm& c) {
    return with_reduction(self, {sendbuf, recvbuf, count, datatype, op},
                          [&](const ReductionArguments& arguments) {
                            scan({self, c}, arguments, ScanKind::inclusive);
                          });
  });
}

int PMPI_Exscan(const void* sendbuf,
                void* recvbuf,
                int count,
                MPI_Datatype datatype,
                MPI_Op op,
                MPI_Comm comm) {
  return call_on(comm, "MPI_Exscan", [&](RankState& self, Comm& c) {
    return with_reduction(self, {sendbuf, recvbuf, count, datatype, op},
                          [&](const ReductionArguments& arguments) {
                            scan({self, c}, arguments, ScanKind::exclusive);
                          });
  });
}

int PMPI_Reduce_scatter(const void* sendbuf,
                        void* recvbuf,
                        const int recvcounts[],
                        MPI_Datatype datatype,
                        MPI_Op op,
                        MPI_Comm comm) {
  return call_on(comm, "MPI_Reduce_scatter", [&](RankState& self, Comm& c) {
    for (int i = 0; i < c.size(); ++i) {
      if (recvcounts[i] < 0) return fail_count(self, recvcounts[i]);
    }
    return with_reduction(self, {sendbuf, recvbuf, 0, datatype, op},
                          [&](const ReductionArguments& arguments) {
                            reduce_scatter({self, c}, arguments, recvcounts);
                          });
  });
}

int PMPI_Reduce_scatter_block(const void* sendbuf,
                              void* recvbuf,
                              int recvcount,
                              MPI_Datatype datatype,
                              MPI_Op op,
                              MPI_Comm comm) {
  return call_on(comm, "MPI_Reduce_scatter_block", [&](RankState& self, Comm& c) {
    return with_reduction(self, {sendbuf, recvbuf, recvcount, datatype, op},
                          [&](const ReductionArguments& arguments) {
                            reduce_scatter({self, c}, arguments, nullptr);
                          });
  });
}

SORREL_WEAK(int, MPI_Barrier, (MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Bcast,
            (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Gather,
            (const void* sendbuf,
             int sendcount,
             MPI_Datatype sendtype,
             void* recvbuf,
             int recvcount,
             MPI_Datatype recvtype,
             int root,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Gatherv,
            (const void* sendbuf,
             int sendcount,
             MPI_Datatype sendtype,
             void* recvbuf,
             const int recvcounts[],
             const int displs[],
             MPI_Datatype recvtype,
             int root,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Allgather,
            (const void* sendbuf,
             int sendcount,
             MPI_Datatype sendtype,
             void* recvbuf,
             int recvcount,
             MPI_Datatype recvtype,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Allgatherv,
            (const void* sendbuf,
             int sendcount,
             MPI_Datatype sendtype,
             void* recvbuf,
             const int recvcounts[],
             const int displs[],
             MPI_Datatype recvtype,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Scatter,
            (const void* sendbuf,
             int sendcount,
             MPI_Datatype sendtype,
             void* recvbuf,
             int recvcount,
             MPI_Datatype recvtype,
             int root,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Scatterv,
            (const void* sendbuf,
             const int sendcounts[],
             const int displs[],
             MPI_Datatype sendtype,
             void* recvbuf,
             int recvcount,
             MPI_Datatype recvtype,
             int root,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Alltoall,
            (const void* sendbuf,
             int sendcount,
             MPI_Datatype sendtype,
             void* recvbuf,
             int recvcount,
             MPI_Datatype recvtype,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Alltoallv,
            (const void* sendbuf,
             const int sendcounts[],
             const int sdispls[],
             MPI_Datatype sendtype,
             void* recvbuf,
             const int recvcounts[],
             const int rdispls[],
             MPI_Datatype recvtype,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Alltoallw,
            (const void* sendbuf,
             const int sendcounts[],
             const int sdispls[],
             const MPI_Datatype sendtypes[],
             void* recvbuf,
             const int recvcounts[],
             const int rdispls[],
             const MPI_Datatype recvtypes[],
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Reduce,
            (const void* sendbuf,
             void* recvbuf,
             int count,
             MPI_Datatype datatype,
             MPI_Op op,
             int root,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Allreduce,
            (const void* sendbuf,
             void* recvbuf,
             int count,
             MPI_Datatype datatype,
             MPI_Op op,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Scan,
            (const void* sendbuf,
             void* recvbuf,
             int count,
             MPI_Datatype datatype,
             MPI_Op op,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Exscan,
            (const void* sendbuf,
             void* recvbuf,
             int count,
             MPI_Datatype datatype,
             MPI_Op op,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Reduce_scatter,
            (const void* sendbuf,
             void* recvbuf,
             const int recvcounts[],
             MPI_Datatype datatype,
             MPI_Op op,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Reduce_scatter_block,
            (const void* sendbuf,
             void* recvbuf,
             int recvcount,
             MPI_Datatype datatype,
             MPI_Op op,
             MPI_Comm comm))

}  // extern "C"

}  // namespace sorrel::abi
