// Collective communication: checks of the arguments that one rank can see, then mpi/collectives.
// MPI 5.0, chapter 6.
#include "mpi/collectives/collectives.hpp"

#include "abi/body.hpp"
#include "abi/check.hpp"

namespace sorrel::abi {

namespace {

using mpi::BlockList;
using mpi::CollectiveArguments;
using mpi::CollectiveCall;
using mpi::CollectiveKind;
using mpi::Datatype;
using mpi::Op;
using mpi::ReductionArguments;
using mpi::ScanKind;
using mpi::TypedBuffer;

int check_typed(RankState& self, const UserBuffer& user, TypedBuffer* typed) {
  Datatype* type = nullptr;
  const int error = check_buffer(self, user, &type);
  *typed = {.buffer = user.buffer, .count = static_cast<std::size_t>(user.count), .type = type};
  return error;
}

int check_type(RankState& self, MPI_Datatype handle, Datatype** type) {
  *type = mpi::datatype_from_handle(handle);
  if (*type == nullptr) return fail_datatype(self, handle);
  return (*type)->is_committed() ? MPI_SUCCESS : fail_uncommitted(self);
}

int check_lists(RankState& self, const UserBlocks& user) {
  if (user.counts.is_null()) return fail_null(self, user.names.counts);
  if (user.displacements.is_null()) return fail_null(self, user.names.displacements);
  if (user.names.datatypes != nullptr && user.datatypes == nullptr)
    return fail_null(self, user.names.datatypes);
  return MPI_SUCCESS;
}

/// Whether the buffer is null or MPI_IN_PLACE although a rank's block has data.
bool lacks_buffer(const BlockList& blocks, std::int32_t size) {
  if (blocks.buffer > MPI_IN_PLACE) [[likely]]
    return false;
  for (std::int32_t rank = 0; rank < size; ++rank) {
    const TypedBuffer block = blocks.of(rank);
    const bool is_first = block.buffer == blocks.buffer;
    if (is_first && is_no_buffer(block.buffer, static_cast<MPI_Count>(block.count), *block.type))
      return true;
  }
  return false;
}

int check_blocks(RankState& self, const Comm& comm, const UserBlocks& user, BlockList* blocks) {
  Datatype* type = nullptr;
  if (user.is_list()) {
    if (const int error = check_lists(self, user); error != MPI_SUCCESS) return error;
  } else if (user.count < 0) {
    return fail_count(self, user.count);
  }
  if (user.datatypes == nullptr) {
    if (const int error = check_type(self, user.datatype, &type); error != MPI_SUCCESS)
      return error;
  }
  for (std::size_t i = 0; user.is_list() && i < static_cast<std::size_t>(comm.size()); ++i) {
    if (user.counts[i] < 0) return fail_count(self, user.counts[i]);
    if (user.datatypes != nullptr) {
      if (const int error = check_type(self, user.datatypes[i], &type); error != MPI_SUCCESS)
        return error;
    }
  }
  *blocks = {.buffer = user.buffer,
             .count = static_cast<std::size_t>(user.count),
             .type = type,
             .counts = user.counts,
             .displacements = user.displacements,
             .types = user.datatypes};
  return lacks_buffer(*blocks, comm.size()) ? fail_buffer(self, user.buffer) : MPI_SUCCESS;
}

/// Whether the buffer and the rank's own block, or all blocks, begin at the same byte and have data
/// there. With gaps they may still be disjoint.
bool is_alias(const TypedBuffer& buffer, const BlockList& blocks, std::int32_t rank) {
  const TypedBuffer own = blocks.of(rank);
  const bool meet =
      buffer.buffer == own.buffer || (blocks.counts.is_null() && buffer.buffer == blocks.buffer);
  return meet && buffer.count > 0 && own.count > 0 && buffer.type->is_dense() &&
         own.type->is_dense() && own.type->size() > 0;
}

int describe_truncation(RankState& self, int error) {
  // A mismatch that the members have found already has its message.
  if (error != MPI_ERR_TRUNCATE || self.detail().text()[0] != '\0') return error;
  return self.fail(
      error, "count and datatype must describe the same amount of data as on the other ranks");
}

bool is_in_place(const void* buffer) {
  return buffer == MPI_IN_PLACE;
}

int all_to_all_binding(RankState& self,
                       Comm& comm,
                       CollectiveKind kind,
                       const UserBlocks& user_send,
                       const UserBlocks& user_receive) {
  BlockList receive;
  BlockList send;
  if (const int error = check_blocks(self, comm, user_receive, &receive); error != MPI_SUCCESS)
    return error;
  const bool in_place = is_in_place(user_send.buffer);
  const bool is_uniform = kind == CollectiveKind::alltoall;
  if (!in_place) {
    if (const int error = check_blocks(self, comm, user_send, &send); error != MPI_SUCCESS)
      return error;
    if (is_uniform && is_alias(send.of(0), receive, 0)) return fail_alias(self);
  }
  comm.call = CollectiveCall({.kind = kind, .bytes = is_uniform ? receive.block_bytes() : 0});
  return describe_truncation(self, all_to_all({self, comm}, in_place ? nullptr : &send, receive));
}

/// Which arguments are significant at a rank.
struct Significance {
  bool is_receive = true;
  /// MPI_IN_PLACE may stand for the operand.
  bool allows_in_place = true;
};

int check_receive(RankState& self, const UserReduction& user, const Datatype& type) {
  if (is_no_buffer(user.receive, user.count, type)) return fail_buffer(self, user.receive);
  const bool is_same = user.send == user.receive && user.send != MPI_BOTTOM;
  return is_same && user.count > 0 && type.size() > 0 ? fail_alias(self) : MPI_SUCCESS;
}

/// The constant of a predefined operation; user-defined ones cannot be compared between ranks.
std::uint16_t number_of(MPI_Op op) {
  const auto value = reinterpret_cast<std::uintptr_t>(op);
  return value < mpi::first_dynamic_handle ? static_cast<std::uint16_t>(value) : 0xffff;
}

/// Checks the arguments, sets the communicator's call, and runs body(ReductionArguments).
template <class Body>
int with_reduction(RankState& self,
                   Comm& comm,
                   const CollectiveArguments& call,
                   const UserReduction& user,
                   const Significance& significance,
                   Body&& body) {
  TypedBuffer typed;
  const bool in_place = is_in_place(user.send) && significance.allows_in_place;
  void* operand = in_place ? user.receive : const_cast<void*>(user.send);
  int error = check_typed(self, {operand, user.count, user.datatype}, &typed);
  if (error == MPI_SUCCESS && significance.is_receive && !in_place)
    error = check_receive(self, user, *typed.type);
  if (error != MPI_SUCCESS) return error;
  const Op* op = mpi::op_from_handle(user.op);
  if (op == nullptr) return fail_op(self, user.op);
  const mpi::ReduceKernel kernel = predefined_kernel(*op, *typed.type);
  if (kernel == nullptr && op->is_predefined()) {
    return self.fail(MPI_ERR_OP, "op is not defined on datatype %s", typed.type->label());
  }
  comm.call = CollectiveCall({.kind = call.kind,
                              .element = static_cast<std::uint8_t>(typed.type->element()),
                              .op = number_of(user.op),
                              .root = call.root,
                              .bytes = typed.bytes()});
  return body(ReductionArguments{.send = in_place ? nullptr : user.send,
                                 .receive = user.receive,
                                 .count = typed.count,
                                 .type = *typed.type,
                                 .op = *op,
                                 .kernel = kernel});
}

}  // namespace

namespace body {

int Barrier(RankState& self, Comm& comm) {
  comm.call = CollectiveCall({.kind = CollectiveKind::barrier});
  return mpi::barrier({self, comm});
}

int Bcast(RankState& self, Comm& comm, const UserBuffer& user, int root) {
  TypedBuffer typed;
  if (const int error = check_typed(self, user, &typed); error != MPI_SUCCESS) return error;
  comm.call = CollectiveCall({.kind = CollectiveKind::bcast, .root = root, .bytes = typed.bytes()});
  return describe_truncation(self, broadcast({self, comm}, typed, root));
}

int Gatherv(
    RankState& self, Comm& comm, const UserBuffer& user_send, const UserBlocks& user, int root) {
  const bool is_root = comm.rank == root;
  BlockList receive;
  if (is_root) {
    if (const int error = check_blocks(self, comm, user, &receive); error != MPI_SUCCESS)
      return error;
  }
  const bool in_place = is_root && is_in_place(user_send.buffer);
  TypedBuffer send;
  if (!in_place) {
    if (const int error = check_typed(self, user_send, &send); error != MPI_SUCCESS) return error;
    if (is_root && is_alias(send, receive, root)) return fail_alias(self);
  }
  comm.call = CollectiveCall(
      {.kind = user.is_list() ? CollectiveKind::gatherv : CollectiveKind::gather,
       .root = root,
       .bytes = user.is_list() ? 0 : (is_root ? receive.block_bytes() : send.bytes())});
  return describe_truncation(self, gather({self, comm}, in_place ? nullptr : &send, receive, root));
}

int Gather(
    RankState& self, Comm& comm, const UserBuffer& send, const UserBuffer& receive, int root) {
  return Gatherv(self, comm, send, {receive}, root);
}

int Allgatherv(RankState& self, Comm& comm, const UserBuffer& user_send, const UserBlocks& user) {
  BlockList receive;
  if (const int error = check_blocks(self, comm, user, &receive); error != MPI_SUCCESS)
    return error;
  const bool in_place = is_in_place(user_send.buffer);
  TypedBuffer send;
  if (!in_place) {
    if (const int error = check_typed(self, user_send, &send); error != MPI_SUCCESS) return error;
    if (is_alias(send, receive, comm.rank)) return fail_alias(self);
  }
  comm.call = CollectiveCall(
      {.kind = user.is_list() ? CollectiveKind::allgatherv : CollectiveKind::allgather,
       .bytes = user.is_list() ? 0 : receive.block_bytes()});
  return describe_truncation(self, all_gather({self, comm}, in_place ? nullptr : &send, receive));
}

int Allgather(RankState& self, Comm& comm, const UserBuffer& send, const UserBuffer& receive) {
  return Allgatherv(self, comm, send, {receive});
}

int Scatterv(
    RankState& self, Comm& comm, const UserBlocks& user, const UserBuffer& user_receive, int root) {
  const bool is_root = comm.rank == root;
  BlockList send;
  if (is_root) {
    if (const int error = check_blocks(self, comm, user, &send); error != MPI_SUCCESS) return error;
  }
  const bool in_place = is_root && is_in_place(user_receive.buffer);
  TypedBuffer receive;
  if (!in_place) {
    if (const int error = check_typed(self, user_receive, &receive); error != MPI_SUCCESS)
      return error;
    if (is_root && is_alias(receive, send, root)) return fail_alias(self);
  }
  comm.call = CollectiveCall(
      {.kind = user.is_list() ? CollectiveKind::scatterv : CollectiveKind::scatter,
       .root = root,
       .bytes = user.is_list() ? 0 : (is_root ? send.block_bytes() : receive.bytes())});
  return describe_truncation(self,
                             scatter({self, comm}, send, in_place ? nullptr : &receive, root));
}

int Scatter(
    RankState& self, Comm& comm, const UserBuffer& send, const UserBuffer& receive, int root) {
  return Scatterv(self, comm, {send}, receive, root);
}

int Alltoall(RankState& self, Comm& comm, const UserBuffer& send, const UserBuffer& receive) {
  return all_to_all_binding(self, comm, CollectiveKind::alltoall, {send}, {receive});
}

int Alltoallv(RankState& self, Comm& comm, const UserBlocks& send, const UserBlocks& receive) {
  return all_to_all_binding(self, comm, CollectiveKind::alltoallv, send, receive);
}

int Alltoallw(RankState& self, Comm& comm, const UserBlocks& send, const UserBlocks& receive) {
  return all_to_all_binding(self, comm, CollectiveKind::alltoallw, send, receive);
}

int Reduce(RankState& self, Comm& comm, const UserReduction& user, int root) {
  const bool is_root = comm.rank == root;
  return with_reduction(self, comm, {.kind = CollectiveKind::reduce, .root = root}, user,
                        {is_root, is_root}, [&](const ReductionArguments& arguments) {
                          return reduce_to_root({self, comm}, arguments, root);
                        });
}

int Allreduce(RankState& self, Comm& comm, const UserReduction& user) {
  return with_reduction(
      self, comm, {.kind = CollectiveKind::allreduce}, user, {},
      [&](const ReductionArguments& arguments) { return all_reduce({self, comm}, arguments); });
}

int Scan(RankState& self, Comm& comm, const UserReduction& user) {
  return with_reduction(self, comm, {.kind = CollectiveKind::scan}, user, {},
                        [&](const ReductionArguments& arguments) {
                          return scan({self, comm}, arguments, ScanKind::inclusive);
                        });
}

int Exscan(RankState& self, Comm& comm, const UserReduction& user) {
  return with_reduction(self, comm, {.kind = CollectiveKind::exscan}, user,
                        {.is_receive = comm.rank != 0}, [&](const ReductionArguments& arguments) {
                          return scan({self, comm}, arguments, ScanKind::exclusive);
                        });
}

int Reduce_scatter(RankState& self,
                   Comm& comm,
                   const void* sendbuf,
                   void* recvbuf,
                   mpi::Integers recvcounts,
                   MPI_Datatype datatype,
                   MPI_Op op) {
  if (recvcounts.is_null()) return fail_null(self, "recvcounts");
  MPI_Count total = 0;
  for (int i = 0; i < comm.size(); ++i) {
    if (recvcounts[i] < 0) return fail_count(self, recvcounts[i]);
    total += recvcounts[i];
  }
  return with_reduction(
      self, comm, {.kind = CollectiveKind::reduce_scatter}, {sendbuf, recvbuf, total, datatype, op},
      {.is_receive = recvcounts[comm.rank] > 0}, [&](const ReductionArguments& arguments) {
        return reduce_scatter({self, comm}, arguments, recvcounts);
      });
}

int Reduce_scatter_block(RankState& self, Comm& comm, const UserReduction& user) {
  return with_reduction(self, comm, {.kind = CollectiveKind::reduce_scatter_block}, user, {},
                        [&](const ReductionArguments& arguments) {
                          return reduce_scatter({self, comm}, arguments, nullptr);
                        });
}

}  // namespace body

}  // namespace sorrel::abi
