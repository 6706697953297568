//! BlockList - the side of a collective that has a block per rank: uniform, "v" (counts,
//! displacements) or "w" (types too).
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi.h"
#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

/// One typed buffer.
struct TypedBuffer {
  void* buffer = nullptr;
  std::size_t count = 0;
  const Datatype* type = nullptr;

  [[nodiscard]] std::size_t bytes() const { return count * type->size(); }
};

/// A block for each rank of a communicator. The arrays are the user's.
struct BlockList {
  void* buffer = nullptr;
  /// Used when `counts` is null: every block has `count` elements, one behind the other.
  std::size_t count = 0;
  const Datatype* type = nullptr;
  const int* counts = nullptr;
  /// In extents of `type`; in bytes when `types` is given.
  const int* displacements = nullptr;
  const MPI_Datatype* types = nullptr;

  [[nodiscard]] TypedBuffer of(std::int32_t rank) const {
    const auto i = static_cast<std::size_t>(rank);
    const Datatype* block_type = types == nullptr ? type : datatype_from_handle(types[i]);
    const std::size_t block_count = counts == nullptr ? count : static_cast<std::size_t>(counts[i]);
    std::int64_t offset = 0;
    if (types != nullptr) {
      offset = displacements[i];
    } else if (displacements != nullptr) {
      offset = displacements[i] * type->extent();
    } else if (counts == nullptr) {
      offset = static_cast<std::int64_t>(i * count) * type->extent();
    }
    return {.buffer = static_cast<std::byte*>(buffer) + offset,
            .count = block_count,
            .type = block_type};
  }
};

}  // namespace sorrel::mpi
