// Checks of the arguments of collectives that one rank can see. MPI 5.0, chapter 6.
#include "abi/collective_checks.hpp"

#include "abi/check.hpp"

namespace sorrel::abi {

using mpi::BlockList;
using mpi::Datatype;
using mpi::TypedBuffer;

namespace {

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

}  // namespace

int check_blocks(RankState& self,
                 std::int32_t block_count,
                 const UserBlocks& user,
                 BlockList* blocks) {
  Datatype* type = nullptr;
  if (!user.is_list()) {
    if (user.count < 0) return fail_count(self, user.count);
  } else if (block_count > 0) {
    // Lists of no blocks may be null pointers, as those of an empty vector are.
    if (const int error = check_lists(self, user); error != MPI_SUCCESS) return error;
  }
  if (user.datatypes == nullptr) {
    const MPI_Datatype common = user.names.datatypes != nullptr ? MPI_BYTE : user.datatype;
    if (const int error = check_type(self, common, &type); error != MPI_SUCCESS) return error;
  }
  for (std::size_t i = 0; user.is_list() && i < static_cast<std::size_t>(block_count); ++i) {
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
  return lacks_buffer(*blocks, block_count) ? fail_buffer(self, user.buffer) : MPI_SUCCESS;
}

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

}  // namespace sorrel::abi
