#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/move.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

namespace {

// Blocks up to this size are staged side by side: one contiguous copy per member instead of one per
// pair of members.
constexpr std::size_t staged_block_bytes_max = 512;

/// Copies everybody's block but our own.
int collect(const Member& member, const BlockList& receive) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  int error = MPI_SUCCESS;
  for (std::int32_t rank = 0; rank < comm.size(); ++rank) {
    if (rank != comm.rank)
      note_error(error, move(slots.left_by<TypedBuffer>(rank), receive.of(rank)));
  }
  return error;
}

/// Whether all blocks are equally long and short enough; the same answer at every member.
bool can_stage(const BlockList& receive) {
  return receive.counts == nullptr &&
         receive.count * receive.type->size() <= staged_block_bytes_max;
}

int all_gather_staged(const Member& member, const TypedBuffer& own, const BlockList& receive) {
  auto& [self, comm] = member;
  const std::size_t block_bytes = receive.count * receive.type->size();
  const auto rank_count = static_cast<std::size_t>(comm.size());
  const Datatype* byte = datatype_from_handle(MPI_BYTE);
  std::byte* staged = comm.shared->slots().staging(self, comm, block_bytes * rank_count);
  std::byte* own_place = staged + block_bytes * static_cast<std::size_t>(comm.rank);
  int error = move(own, {.buffer = own_place, .count = block_bytes, .type = byte});
  comm.shared->slots().meet(self, comm);
  note_error(
      error,
      move({.buffer = staged, .count = block_bytes * rank_count, .type = byte},
           {.buffer = receive.buffer, .count = receive.count * rank_count, .type = receive.type}));
  return error;
}

}  // namespace

int gather(const Member& member,
           const TypedBuffer* send,
           const BlockList& receive,
           std::int32_t root) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  const bool is_root = comm.rank == root;
  int error = MPI_SUCCESS;
  if (is_root && send != nullptr) error = move(*send, receive.of(root));
  slots.deposit(comm, send);
  slots.meet(self, comm);
  if (is_root) note_error(error, collect(member, receive));
  slots.meet(self, comm);
  return error;
}

int all_gather(const Member& member, const TypedBuffer* send, const BlockList& receive) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  const TypedBuffer own_block = receive.of(comm.rank);
  const TypedBuffer& own = send == nullptr ? own_block : *send;
  if (can_stage(receive)) return all_gather_staged(member, own, receive);
  int error = send == nullptr ? MPI_SUCCESS : move(own, own_block);
  slots.deposit(comm, &own);
  slots.meet(self, comm);
  note_error(error, collect(member, receive));
  slots.meet(self, comm);
  return error;
}

}  // namespace sorrel::mpi
