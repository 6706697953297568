//! Copies one typed buffer to another and reports truncation.
#pragma once

#include "mpi/collectives/block_list.hpp"
#include "mpi/datatype/copy.hpp"

namespace sorrel::mpi {

/// MPI_ERR_TRUNCATE if the target is too small: then as much as fits was copied.
[[nodiscard]] inline int move(const TypedBuffer& from, const TypedBuffer& to) {
  const std::size_t moved =
      copy(from.buffer, from.count, *from.type, to.buffer, to.count, *to.type);
  return moved < from.bytes() ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/// Keeps the first error.
inline void record_error(int& first, int error) {
  if (first == MPI_SUCCESS) first = error;
}

}  // namespace sorrel::mpi
