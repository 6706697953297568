#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/move.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

int scatter(const Member& member,
            const BlockList& send,
            const TypedBuffer* receive,
            std::int32_t root) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  slots.deposit(comm, &send);
  slots.meet(self, comm);
  int error = MPI_SUCCESS;
  if (receive != nullptr) {
    const BlockList& blocks = comm.rank == root ? send : slots.left_by<BlockList>(root);
    error = move(blocks.of(comm.rank), *receive);
  }
  slots.meet(self, comm);
  return error;
}

}  // namespace sorrel::mpi
