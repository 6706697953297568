#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/inter.hpp"
#include "mpi/collectives/move.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// The root's process uses its slots; members of other processes are sent their blocks.
int scatter_over_processes(const Member& member,
                           const BlockList& send,
                           const TypedBuffer* receive,
                           std::int32_t root) {
  auto& [self, comm] = member;
  const ProcessMap& processes = *comm.shared->processes();
  CollectiveSlots& slots = comm.shared->slots();
  const std::int32_t root_index = processes.index_of(root);
  Traffic traffic(member);
  if (processes.own_index() != root_index) {
    traffic.receive(*receive, root);
    return traffic.finish();
  }
  if (comm.rank == root) {
    for (std::int32_t rank = 0; rank < comm.size(); ++rank) {
      if (processes.index_of(rank) != root_index) traffic.send(send.of(rank), rank);
    }
  }
  slots.publish(comm, &send);
  slots.local_barrier(self, comm);
  int error = MPI_SUCCESS;
  if (receive != nullptr) error = move(slots.published_by<BlockList>(root).of(comm.rank), *receive);
  slots.local_barrier(self, comm);
  record_error(error, traffic.finish());
  return error;
}

}  // namespace

int scatter(const Member& member,
            const BlockList& send,
            const TypedBuffer* receive,
            std::int32_t root) {
  auto& [self, comm] = member;
  if (comm.inter != nullptr) return inter::scatter(member, send, receive, root);
  if (comm.shared->processes() != nullptr)
    return scatter_over_processes(member, send, receive, root);
  CollectiveSlots& slots = comm.shared->slots();
  slots.publish(comm, &send);
  if (const int error = slots.barrier(self, comm); error != MPI_SUCCESS) return error;
  int error = MPI_SUCCESS;
  if (receive != nullptr) {
    const BlockList& blocks = comm.rank == root ? send : slots.published_by<BlockList>(root);
    error = move(blocks.of(comm.rank), *receive);
  }
  slots.barrier(self, comm);
  return error;
}

}  // namespace sorrel::mpi
