#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/move.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

namespace {

// Up to here the root's data goes through a staging buffer, which spares everybody the second
// meeting.
constexpr std::size_t staged_bytes_max = 4096;

}  // namespace

int broadcast(const Member& member, const TypedBuffer& buffer, std::int32_t root) {
  auto& [self, comm] = member;
  CollectiveSlots& slots = comm.shared->slots();
  const bool is_root = comm.rank == root;
  int error = MPI_SUCCESS;
  if (comm.size() == 1) return error;
  // The standard wants the same number of bytes at every member, so that all take the same way.
  if (buffer.bytes() <= staged_bytes_max) {
    const TypedBuffer staged{.buffer = slots.staging(self, comm, staged_bytes_max),
                             .count = buffer.bytes(),
                             .type = datatype_from_handle(MPI_BYTE)};
    if (is_root) error = move(buffer, staged);
    slots.meet(self, comm);
    if (!is_root) error = move(staged, buffer);
    return error;
  }
  slots.deposit(comm, &buffer);
  slots.meet(self, comm);
  if (!is_root) error = move(slots.left_by<TypedBuffer>(root), buffer);
  slots.meet(self, comm);
  return error;
}

}  // namespace sorrel::mpi
