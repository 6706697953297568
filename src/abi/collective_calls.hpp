//! The collectives of the standard, each in three forms: blocking, nonblocking, persistent.
//!
//! A function here checks the arguments, puts them into a struct and passes that to `launch`, with
//! the call that all members must agree on. launch(call, arguments) runs arguments(member) at once
//! (Blocking), or keeps a copy and lets it hold the objects that it uses (deferred_collective.hpp).
#pragma once

#include "abi/collective_checks.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/op/op.hpp"

namespace sorrel::abi {

using mpi::BlockList;
using mpi::CollectiveArguments;
using mpi::CollectiveKind;
using mpi::Member;
using mpi::ReductionArguments;
using mpi::ScanKind;
using mpi::TypedBuffer;

/// Runs a collective at once.
struct Blocking {
  Member member;

  template <class Arguments>
  [[gnu::always_inline]] int operator()(const CollectiveArguments& call,
                                        const Arguments& arguments) const {
    member.comm.call = mpi::CollectiveCall(call);
    return arguments(member);
  }
};

struct BarrierArguments {
  int operator()(const Member& member) const { return mpi::barrier(member); }

  template <class Operation>
  void hold(Operation& /*operation*/, const Comm& /*comm*/) {}
};

template <class Launch>
int barrier(const Launch& launch) {
  return launch({.kind = CollectiveKind::barrier}, BarrierArguments{});
}

/// Arguments of a rank in the root's group that passes MPI_PROC_NULL: no data, no argument but the
/// communicator is significant.
struct NoArguments {
  int operator()(const Member& /*member*/) const { return MPI_SUCCESS; }

  template <class Operation>
  void hold(Operation& /*operation*/, const Comm& /*comm*/) {}
};

struct BroadcastArguments {
  TypedBuffer buffer;
  int root;

  int operator()(const Member& member) const {
    return describe_truncation(member.self, mpi::broadcast(member, buffer, root));
  }

  template <class Operation>
  void hold(Operation& operation, const Comm& /*comm*/) {
    operation.hold(buffer.type);
  }
};

template <class Launch>
int broadcast(const Launch& launch, const UserBuffer& user, int root) {
  if (root == MPI_PROC_NULL) return launch({.kind = CollectiveKind::bcast}, NoArguments{});
  TypedBuffer typed;
  if (const int error = check_typed(launch.member.self, user, &typed); error != MPI_SUCCESS)
    return error;
  return launch({.kind = CollectiveKind::bcast, .root = root, .bytes = typed.bytes()},
                BroadcastArguments{typed, root});
}

/// One buffer on one side, a block for each rank on the other: gather, allgather, scatter.
struct BlocksArguments {
  TypedBuffer typed = {};
  bool is_in_place = false;
  BlockList blocks = {};
  int root = 0;

  [[nodiscard]] const TypedBuffer* typed_or_null() const { return is_in_place ? nullptr : &typed; }

  template <class Operation>
  void hold(Operation& operation, const Comm& comm) {
    operation.hold(typed.type);
    operation.hold(blocks, comm.size());
  }
};

struct GatherArguments : BlocksArguments {
  int operator()(const Member& member) const {
    return describe_truncation(member.self, mpi::gather(member, typed_or_null(), blocks, root));
  }
};

template <class Launch>
int gather(const Launch& launch, const UserBuffer& user_send, const UserBlocks& user, int root) {
  const CollectiveKind kind = user.is_list() ? CollectiveKind::gatherv : CollectiveKind::gather;
  if (root == MPI_PROC_NULL) return launch({.kind = kind}, NoArguments{});
  auto& [self, comm] = launch.member;
  const bool is_root = is_root_of(comm, root);
  // In an intercommunicator the root is not in the group with which it exchanges data.
  const bool is_only_root = is_root && comm.inter != nullptr;
  GatherArguments arguments;
  arguments.root = root;
  if (is_root) {
    if (const int error = check_blocks(self, comm, user, &arguments.blocks); error != MPI_SUCCESS)
      return error;
  }
  arguments.is_in_place = is_root && is_in_place(user_send.buffer);
  const TypedBuffer& send = arguments.typed;
  if (!arguments.is_in_place && !is_only_root) {
    if (const int error = check_typed(self, user_send, &arguments.typed); error != MPI_SUCCESS)
      return error;
    if (is_root && is_alias(send, arguments.blocks, root)) return fail_alias(self);
  }
  return launch(
      {.kind = kind,
       .root = root,
       .bytes = user.is_list() ? 0 : (is_root ? arguments.blocks.block_bytes() : send.bytes())},
      arguments);
}

struct AllGatherArguments : BlocksArguments {
  int operator()(const Member& member) const {
    return describe_truncation(member.self, mpi::all_gather(member, typed_or_null(), blocks));
  }
};

template <class Launch>
int all_gather(const Launch& launch, const UserBuffer& user_send, const UserBlocks& user) {
  auto& [self, comm] = launch.member;
  AllGatherArguments arguments;
  if (const int error = check_blocks(self, comm, user, &arguments.blocks); error != MPI_SUCCESS)
    return error;
  arguments.is_in_place = is_in_place(user_send.buffer) && comm.inter == nullptr;
  if (!arguments.is_in_place) {
    if (const int error = check_typed(self, user_send, &arguments.typed); error != MPI_SUCCESS)
      return error;
    if (comm.inter == nullptr && is_alias(arguments.typed, arguments.blocks, comm.rank))
      return fail_alias(self);
  }
  const bool is_list = user.is_list();
  return launch({.kind = is_list ? CollectiveKind::allgatherv : CollectiveKind::allgather,
                 .bytes = is_list ? 0 : arguments.blocks.block_bytes()},
                arguments);
}

struct ScatterArguments : BlocksArguments {
  int operator()(const Member& member) const {
    return describe_truncation(member.self, mpi::scatter(member, blocks, typed_or_null(), root));
  }
};

template <class Launch>
int scatter(const Launch& launch,
            const UserBlocks& user,
            const UserBuffer& user_receive,
            int root) {
  const CollectiveKind kind = user.is_list() ? CollectiveKind::scatterv : CollectiveKind::scatter;
  if (root == MPI_PROC_NULL) return launch({.kind = kind}, NoArguments{});
  auto& [self, comm] = launch.member;
  const bool is_root = is_root_of(comm, root);
  // In an intercommunicator the root is not in the group with which it exchanges data.
  const bool is_only_root = is_root && comm.inter != nullptr;
  ScatterArguments arguments;
  arguments.root = root;
  if (is_root) {
    if (const int error = check_blocks(self, comm, user, &arguments.blocks); error != MPI_SUCCESS)
      return error;
  }
  arguments.is_in_place = is_root && is_in_place(user_receive.buffer);
  const TypedBuffer& receive = arguments.typed;
  if (!arguments.is_in_place && !is_only_root) {
    if (const int error = check_typed(self, user_receive, &arguments.typed); error != MPI_SUCCESS)
      return error;
    if (is_root && is_alias(receive, arguments.blocks, root)) return fail_alias(self);
  }
  return launch(
      {.kind = kind,
       .root = root,
       .bytes = user.is_list() ? 0 : (is_root ? arguments.blocks.block_bytes() : receive.bytes())},
      arguments);
}

struct AllToAllArguments {
  bool is_in_place = false;
  BlockList send = {};
  BlockList receive = {};

  int operator()(const Member& member) const {
    return describe_truncation(member.self,
                               mpi::all_to_all(member, is_in_place ? nullptr : &send, receive));
  }

  template <class Operation>
  void hold(Operation& operation, const Comm& comm) {
    operation.hold(send, comm.size());
    operation.hold(receive, comm.size());
  }
};

/// `kind` is alltoall, alltoallv or alltoallw.
template <class Launch>
int all_to_all(const Launch& launch,
               CollectiveKind kind,
               const UserBlocks& user_send,
               const UserBlocks& user_receive) {
  auto& [self, comm] = launch.member;
  AllToAllArguments arguments;
  if (const int error = check_blocks(self, comm, user_receive, &arguments.receive);
      error != MPI_SUCCESS)
    return error;
  arguments.is_in_place = is_in_place(user_send.buffer) && comm.inter == nullptr;
  const bool is_uniform = kind == CollectiveKind::alltoall;
  if (!arguments.is_in_place) {
    if (const int error = check_blocks(self, comm, user_send, &arguments.send);
        error != MPI_SUCCESS)
      return error;
    if (is_uniform && is_alias(arguments.send.of(0), arguments.receive, 0)) return fail_alias(self);
  }
  return launch({.kind = kind, .bytes = is_uniform ? arguments.receive.block_bytes() : 0},
                arguments);
}

/// Which arguments of a reduction are significant at a rank.
struct Significance {
  bool is_receive = true;
  bool is_send = true;
  /// MPI_IN_PLACE may stand for the operand.
  bool allows_in_place = true;
};

/// Significance in a reduction whose result every rank gets.
inline Significance everywhere(const Comm& comm) {
  return {.allows_in_place = comm.inter == nullptr};
}

/// The constant of a predefined operation; user-defined ones cannot be compared between ranks.
inline std::uint16_t number_of(MPI_Op op) {
  const auto value = reinterpret_cast<std::uintptr_t>(op);
  return value < mpi::first_dynamic_handle ? static_cast<std::uint16_t>(value) : 0xffff;
}

/// A reduction, with what run(member, reduction) needs beside.
template <class Run>
struct ReductionCall {
  ReductionArguments reduction;
  Run run;

  int operator()(const Member& member) const { return run(member, reduction); }

  template <class Operation>
  void hold(Operation& operation, const Comm& comm) {
    operation.hold(&reduction.type);
    operation.hold(reduction.op);
    if constexpr (requires { run.counts; }) operation.hold(run.counts, local_size_of(comm));
  }
};

/// Checks the arguments and launches run(Member, ReductionArguments).
template <class Launch, class Run>
int reduction(const Launch& launch,
              const CollectiveArguments& call,
              const UserReduction& user,
              const Significance& significance,
              const Run& run) {
  RankState& self = launch.member.self;
  TypedBuffer typed;
  const bool in_place = is_in_place(user.send) && significance.allows_in_place;
  const bool is_send = significance.is_send && !in_place;
  void* operand = is_send ? const_cast<void*>(user.send) : user.receive;
  int error = check_typed(self, {operand, user.count, user.datatype}, &typed);
  if (error == MPI_SUCCESS && significance.is_receive && is_send)
    error = check_receive(self, user, *typed.type);
  if (error != MPI_SUCCESS) return error;
  const mpi::Op* op = mpi::op_from_handle(user.op);
  if (op == nullptr) return fail_op(self, user.op);
  const mpi::ReduceKernel kernel = predefined_kernel(*op, *typed.type);
  if ((kernel == nullptr && op->is_predefined()) || op->is_one_sided_only())
    return fail_op_on(self, *op, *typed.type);
  return launch({.kind = call.kind,
                 .element = static_cast<std::uint8_t>(typed.type->element()),
                 .op = number_of(user.op),
                 .root = call.root,
                 .bytes = typed.bytes()},
                ReductionCall<Run>{{.send = in_place ? nullptr : user.send,
                                    .receive = user.receive,
                                    .count = typed.count,
                                    .type = *typed.type,
                                    .op = *op,
                                    .kernel = kernel},
                                   run});
}

template <class Launch>
int reduce(const Launch& launch, const UserReduction& user, int root) {
  if (root == MPI_PROC_NULL) return launch({.kind = CollectiveKind::reduce}, NoArguments{});
  const Comm& comm = launch.member.comm;
  const bool is_root = is_root_of(comm, root);
  const bool is_intra = comm.inter == nullptr;
  return reduction(launch, {.kind = CollectiveKind::reduce, .root = root}, user,
                   {is_root, is_intra || !is_root, is_root && is_intra},
                   [root](const Member& member, const ReductionArguments& arguments) {
                     return reduce_to_root(member, arguments, root);
                   });
}

template <class Launch>
int all_reduce(const Launch& launch, const UserReduction& user) {
  return reduction(launch, {.kind = CollectiveKind::allreduce}, user,
                   everywhere(launch.member.comm),
                   [](const Member& member, const ReductionArguments& arguments) {
                     return mpi::all_reduce(member, arguments);
                   });
}

template <class Launch>
int scan(const Launch& launch, const UserReduction& user) {
  return reduction(launch, {.kind = CollectiveKind::scan}, user, {},
                   [](const Member& member, const ReductionArguments& arguments) {
                     return mpi::scan(member, arguments, ScanKind::inclusive);
                   });
}

template <class Launch>
int exclusive_scan(const Launch& launch, const UserReduction& user) {
  return reduction(launch, {.kind = CollectiveKind::exscan}, user,
                   {.is_receive = launch.member.comm.rank != 0},
                   [](const Member& member, const ReductionArguments& arguments) {
                     return mpi::scan(member, arguments, ScanKind::exclusive);
                   });
}

struct ReduceScatterRun {
  mpi::Integers counts;

  int operator()(const Member& member, const ReductionArguments& arguments) const {
    return mpi::reduce_scatter(member, arguments, counts);
  }
};

/// `user.count` is not significant.
template <class Launch>
int reduce_scatter(const Launch& launch, const UserReduction& user, mpi::Integers counts) {
  auto& [self, comm] = launch.member;
  if (counts.is_null()) return fail_null(self, "recvcounts");
  MPI_Count total = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(local_size_of(comm)); ++i) {
    if (counts[i] < 0) return fail_count(self, counts[i]);
    total += counts[i];
  }
  return reduction(launch, {.kind = CollectiveKind::reduce_scatter},
                   {user.send, user.receive, total, user.datatype, user.op},
                   {.is_receive = counts[static_cast<std::size_t>(comm.rank)] > 0,
                    .allows_in_place = comm.inter == nullptr},
                   ReduceScatterRun{counts});
}

template <class Launch>
int reduce_scatter_block(const Launch& launch, const UserReduction& user) {
  return reduction(launch, {.kind = CollectiveKind::reduce_scatter_block}, user,
                   everywhere(launch.member.comm),
                   [](const Member& member, const ReductionArguments& arguments) {
                     return mpi::reduce_scatter(member, arguments, nullptr);
                   });
}

}  // namespace sorrel::abi
