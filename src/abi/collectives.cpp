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
    RankState& self, const void* buffer, MPI_Count count, MPI_Datatype handle, TypedBuffer* typed) {
  Datatype* type = nullptr;
  const int error = check_buffer(self, buffer, count, handle, &type);
  *typed = {
      .buffer = const_cast<void*>(buffer), .count = static_cast<std::size_t>(count), .type = type};
  return error;
}

/// The side of a collective that has a block per rank, as the user gave it.
struct UserBlocks {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
  mpi::Integers counts = {};
  mpi::Integers displacements = {};
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
  const bool is_uniform = user.counts.is_null();
  if (is_uniform && user.count < 0) return fail_count(self, user.count);
  for (std::size_t i = 0; i < static_cast<std::size_t>(comm.size()); ++i) {
    if (!is_uniform && user.counts[i] < 0) return fail_count(self, user.counts[i]);
    if (user.datatypes != nullptr) {
      if (const int error = check_type(self, user.datatypes[i], &type); error != MPI_SUCCESS)
        return error;
    }
    if (is_uniform && user.datatypes == nullptr) break;
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
    const int error = check_typed(self, user_send.buffer, static_cast<MPI_Count>(user_send.count),
                                  send_type, &send);
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
    const int error = check_typed(self, user_send.buffer, static_cast<MPI_Count>(user_send.count),
                                  send_type, &send);
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
    const int error =
        check_typed(self, user_receive.buffer, static_cast<MPI_Count>(user_receive.count),
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
  MPI_Count count;
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

#define SORREL_FACES "abi/collectives_faces.inc"
#include "abi/both_counts.hpp"

extern "C" {

int PMPI_Barrier(MPI_Comm comm) {
  return call_on(comm, "MPI_Barrier", [&](RankState& self, Comm& c) {
    mpi::barrier({self, c});
    return MPI_SUCCESS;
  });
}

SORREL_WEAK(int, MPI_Barrier, (MPI_Comm comm))

}  // extern "C"

}  // namespace sorrel::abi
