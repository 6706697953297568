#include "mpi/collectives/inter.hpp"

#include <vector>

#include "mpi/collectives/move.hpp"
#include "mpi/collectives/reduction.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi::inter {

namespace {

/// The rank that represents its group.
constexpr std::int32_t leader = 0;

/// The caller in the intracommunicator of its group, in a collective of this kind there.
Member local_member(const Member& member, CollectiveKind kind, std::uint64_t bytes = 0) {
  Comm& local = *member.comm.inter->local;
  local.call = CollectiveCall({.kind = kind, .root = leader, .bytes = bytes});
  return {member.self, local};
}

TypedBuffer nothing() {
  return {.buffer = nullptr, .count = 0, .type = datatype_from_handle(MPI_BYTE)};
}

TypedBuffer elements(void* buffer, std::size_t count, const Datatype& type) {
  return {.buffer = buffer, .count = count, .type = &type};
}

/// One message to the leader of the other group, and one from it.
int exchange(const Member& member, const TypedBuffer& send, const TypedBuffer& receive) {
  Traffic traffic(member);
  traffic.receive(receive, leader);
  traffic.send(send, leader);
  return traffic.finish();
}

/// The reduction of the caller's group; `result` is significant at its leader.
int reduce_locally(const Member& member, const ReductionArguments& arguments, void* result) {
  const Member local =
      local_member(member, CollectiveKind::reduce, arguments.count * arguments.type.size());
  return mpi::reduce_to_root(local,
                             {.send = arguments.send,
                              .receive = result,
                              .count = arguments.count,
                              .type = arguments.type,
                              .op = arguments.op,
                              .kernel = arguments.kernel},
                             leader);
}

/// Memory for `count` elements at the leader.
Scratch scratch_of(const Member& member, std::size_t count, const Datatype& type) {
  return {member.comm.rank == leader ? count : 0, type};
}

}  // namespace

int barrier(const Member& member) {
  // A leader sends when its whole group has arrived; no member leaves before its leader has
  // received.
  int error = mpi::barrier(local_member(member, CollectiveKind::barrier));
  if (error != MPI_SUCCESS) return error;
  if (member.comm.rank == leader) error = exchange(member, nothing(), nothing());
  record_error(error, mpi::barrier(local_member(member, CollectiveKind::barrier)));
  return error;
}

int broadcast(const Member& member, const TypedBuffer& buffer, std::int32_t root) {
  Traffic traffic(member);
  if (root == MPI_ROOT) {
    traffic.send(buffer, leader);
    return traffic.finish();
  }
  if (member.comm.rank == leader) traffic.receive(buffer, root);
  int error = traffic.finish();
  const Member local = local_member(member, CollectiveKind::bcast, buffer.bytes());
  record_error(error, mpi::broadcast(local, buffer, leader));
  return error;
}

int gather(const Member& member,
           const TypedBuffer* send,
           const BlockList& receive,
           std::int32_t root) {
  Traffic traffic(member);
  if (root != MPI_ROOT) {
    traffic.send(*send, root);
  } else {
    for (std::int32_t rank = 0; rank < member.comm.size(); ++rank)
      traffic.receive(receive.of(rank), rank);
  }
  return traffic.finish();
}

int scatter(const Member& member,
            const BlockList& send,
            const TypedBuffer* receive,
            std::int32_t root) {
  Traffic traffic(member);
  if (root != MPI_ROOT) {
    traffic.receive(*receive, root);
  } else {
    for (std::int32_t rank = 0; rank < member.comm.size(); ++rank)
      traffic.send(send.of(rank), rank);
  }
  return traffic.finish();
}

int all_gather(const Member& member, const TypedBuffer& send, const BlockList& receive) {
  Traffic traffic(member);
  for (std::int32_t rank = 0; rank < member.comm.size(); ++rank)
    traffic.receive(receive.of(rank), rank);
  for (std::int32_t rank = 0; rank < member.comm.size(); ++rank)
    traffic.send(send, rank);
  return traffic.finish();
}

int all_to_all(const Member& member, const BlockList& send, const BlockList& receive) {
  Traffic traffic(member);
  for (std::int32_t rank = 0; rank < member.comm.size(); ++rank)
    traffic.receive(receive.of(rank), rank);
  for (std::int32_t rank = 0; rank < member.comm.size(); ++rank)
    traffic.send(send.of(rank), rank);
  return traffic.finish();
}

int reduce_to_root(const Member& member, const ReductionArguments& arguments, std::int32_t root) {
  Traffic traffic(member);
  if (root == MPI_ROOT) {
    traffic.receive(elements(arguments.receive, arguments.count, arguments.type), leader);
    return traffic.finish();
  }
  const Scratch result = scratch_of(member, arguments.count, arguments.type);
  int error = reduce_locally(member, arguments, result.buffer());
  if (member.comm.rank == leader)
    traffic.send(elements(result.buffer(), arguments.count, arguments.type), root);
  record_error(error, traffic.finish());
  return error;
}

int all_reduce(const Member& member, const ReductionArguments& arguments) {
  const auto& [send, receive, count, type, op, kernel] = arguments;
  const Scratch own = scratch_of(member, count, type);
  int error = reduce_locally(member, arguments, own.buffer());
  const TypedBuffer result = elements(receive, count, type);
  if (member.comm.rank == leader)
    record_error(error, exchange(member, elements(own.buffer(), count, type), result));
  const Member local = local_member(member, CollectiveKind::bcast, result.bytes());
  record_error(error, mpi::broadcast(local, result, leader));
  return error;
}

int reduce_scatter(const Member& member, const ReductionArguments& arguments, Integers counts) {
  const Datatype& type = arguments.type;
  const std::int32_t local_size = local_size_of(member.comm);
  std::vector<std::int64_t> own_counts;
  std::vector<std::int64_t> displacements;
  std::int64_t total = 0;
  for (std::int32_t rank = 0; rank < local_size; ++rank) {
    own_counts.push_back(counts.is_null() ? static_cast<std::int64_t>(arguments.count)
                                          : counts[static_cast<std::size_t>(rank)]);
    displacements.push_back(total);
    total += own_counts.back();
  }
  const auto element_count = static_cast<std::size_t>(total);
  const Scratch own = scratch_of(member, element_count, type);
  const Scratch theirs = scratch_of(member, element_count, type);
  int error = reduce_locally(member,
                             {.send = arguments.send,
                              .receive = nullptr,
                              .count = element_count,
                              .type = type,
                              .op = arguments.op,
                              .kernel = arguments.kernel},
                             own.buffer());
  if (member.comm.rank == leader)
    record_error(error, exchange(member, elements(own.buffer(), element_count, type),
                                 elements(theirs.buffer(), element_count, type)));
  const BlockList blocks{.buffer = theirs.buffer(),
                         .type = &type,
                         .counts = own_counts.data(),
                         .displacements = displacements.data()};
  const TypedBuffer share = elements(
      arguments.receive,
      static_cast<std::size_t>(own_counts[static_cast<std::size_t>(member.comm.rank)]), type);
  record_error(
      error, mpi::scatter(local_member(member, CollectiveKind::scatterv), blocks, &share, leader));
  return error;
}

}  // namespace sorrel::mpi::inter
