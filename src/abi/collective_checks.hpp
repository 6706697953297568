//! Checks of the arguments of collectives that one rank can see. Each returns MPI_SUCCESS, or fails
//! with a message.
#pragma once

#include "abi/call.hpp"
#include "abi/check.hpp"
#include "mpi/collectives/collectives.hpp"

namespace sorrel::abi {

inline bool is_in_place(const void* buffer) {
  return buffer == MPI_IN_PLACE;
}

[[nodiscard]] inline int check_typed(RankState& self,
                                     const UserBuffer& user,
                                     mpi::TypedBuffer* typed) {
  mpi::Datatype* type = nullptr;
  const int error = check_buffer(self, user, &type);
  *typed = {.buffer = user.buffer, .count = static_cast<std::size_t>(user.count), .type = type};
  return error;
}

[[nodiscard]] int check_blocks(RankState& self,
                               std::int32_t block_count,
                               const UserBlocks& user,
                               mpi::BlockList* blocks);

/// A block for each rank with which a collective on `comm` exchanges data.
[[nodiscard]] inline int check_blocks(RankState& self,
                                      const Comm& comm,
                                      const UserBlocks& user,
                                      mpi::BlockList* blocks) {
  return check_blocks(self, comm.size(), user, blocks);
}

/// Whether the buffer and the rank's own block, or all blocks, begin at the same byte and have data
/// there. With gaps they may still be disjoint.
[[nodiscard]] bool is_alias(const mpi::TypedBuffer& buffer,
                            const mpi::BlockList& blocks,
                            std::int32_t rank);

/// Adds a message to MPI_ERR_TRUNCATE if it has none; returns the error.
[[nodiscard]] int describe_truncation(RankState& self, int error);

/// The receive buffer of a reduction.
[[nodiscard]] inline int check_receive(RankState& self,
                                       const UserReduction& user,
                                       const mpi::Datatype& type) {
  if (is_no_buffer(user.receive, user.count, type)) return fail_buffer(self, user.receive);
  const bool is_same = user.send == user.receive && user.send != MPI_BOTTOM;
  return is_same && user.count > 0 && type.size() > 0 ? fail_alias(self) : MPI_SUCCESS;
}

}  // namespace sorrel::abi
