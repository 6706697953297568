#include <algorithm>

#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/inter.hpp"
#include "mpi/collectives/move.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// Broadcasts along a binomial tree of `count` members. The caller is the `position`-th; rank_at(0)
/// has the data.
template <class RankAt>
int pass_along(const Member& member,
               const TypedBuffer& buffer,
               std::int32_t position,
               std::int32_t count,
               RankAt&& rank_at) {
  Traffic traffic(member);
  int error = MPI_SUCCESS;
  std::int32_t step = 1;
  while (step < count && (position & step) == 0)
    step <<= 1;
  if (position != 0) {
    traffic.receive(buffer, rank_at(position - step));
    error = traffic.finish();
  }
  for (step >>= 1; step > 0; step >>= 1) {
    if (position + step < count) traffic.send(buffer, rank_at(position + step));
  }
  record_error(error, traffic.finish());
  return error;
}

/// From the root to one member in each process: first to one process of each node, so that the data
/// is sent to a node once.
int pass_on(const Member& member, const TypedBuffer& buffer, std::int32_t root) {
  const ProcessMap& processes = *member.comm.shared->processes();
  const std::int32_t root_index = processes.index_of(root);
  const std::int32_t root_node = processes.node_of(root_index);
  const std::int32_t node_count = processes.node_count();
  const auto local_root_of = [&](std::int32_t index) {
    return index == root_index ? root : processes.process_leader(index);
  };
  // The first process of a node to receive the data.
  const auto first_of = [&](std::int32_t node) {
    return node == root_node ? root_index : processes.node_leader(node);
  };
  const std::int32_t own_node = processes.own_node();
  const auto& node_processes = processes.on_node(own_node);
  const auto node_process_count = static_cast<std::int32_t>(node_processes.size());
  const auto position_of = [&](std::int32_t index) {
    return static_cast<std::int32_t>(std::ranges::find(node_processes, index) -
                                     node_processes.begin());
  };
  const std::int32_t first = position_of(first_of(own_node));
  int error = MPI_SUCCESS;
  if (processes.own_index() == first_of(own_node)) {
    error = pass_along(
        member, buffer, (own_node - root_node + node_count) % node_count, node_count,
        [&](std::int32_t at) { return local_root_of(first_of((at + root_node) % node_count)); });
  }
  const std::int32_t own = position_of(processes.own_index());
  record_error(error,
               pass_along(member, buffer, (own - first + node_process_count) % node_process_count,
                          node_process_count, [&](std::int32_t at) {
                            const std::int32_t place = (at + first) % node_process_count;
                            return local_root_of(node_processes[static_cast<std::size_t>(place)]);
                          }));
  return error;
}

int broadcast_over_processes(const Member& member, const TypedBuffer& buffer, std::int32_t root) {
  auto& [self, comm] = member;
  const ProcessMap& processes = *comm.shared->processes();
  CollectiveSlots& slots = comm.shared->slots();
  const bool is_root_here = processes.index_of(root) == processes.own_index();
  const std::int32_t local_root = is_root_here ? root : processes.own_leader();
  int error = MPI_SUCCESS;
  if (comm.rank == local_root) error = pass_on(member, buffer, root);
  slots.publish(comm, &buffer);
  slots.local_barrier(self, comm);
  if (comm.rank != local_root) error = move(slots.published_by<TypedBuffer>(local_root), buffer);
  slots.local_barrier(self, comm);
  return error;
}

}  // namespace

int broadcast(const Member& member, const TypedBuffer& buffer, std::int32_t root) {
  auto& [self, comm] = member;
  if (comm.inter != nullptr) return inter::broadcast(member, buffer, root);
  CollectiveSlots& slots = comm.shared->slots();
  const bool is_root = comm.rank == root;
  int error = MPI_SUCCESS;
  if (comm.size() == 1) return error;
  if (comm.shared->processes() != nullptr) return broadcast_over_processes(member, buffer, root);
  // The standard requires the same number of bytes at every member, so all take the same branch.
  if (buffer.bytes() <= slots.limit(Limit::bcast_staged)) {
    // The staging buffer saves the second barrier.
    std::byte* place = nullptr;
    error = slots.staging(self, comm, std::max(buffer.bytes(), staging_bytes_min), &place);
    if (error != MPI_SUCCESS) return error;
    const TypedBuffer staged{
        .buffer = place, .count = buffer.bytes(), .type = datatype_from_handle(MPI_BYTE)};
    if (is_root) error = move(buffer, staged);
    if (const int mismatch = slots.barrier(self, comm); mismatch != MPI_SUCCESS) return mismatch;
    if (!is_root) error = move(staged, buffer);
    return error;
  }
  slots.publish(comm, &buffer);
  error = slots.barrier(self, comm);
  if (error != MPI_SUCCESS) return error;
  if (!is_root) error = move(slots.published_by<TypedBuffer>(root), buffer);
  slots.barrier(self, comm);
  return error;
}

}  // namespace sorrel::mpi
