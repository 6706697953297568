//! BlockList - the buffer of a collective that has a block per rank: uniform, "v" (counts,
//! displacements) or "w" (types too).
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi.h"
#include "mpi/base/integers.hpp"
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
  /// Used if there are no `counts`: contiguous blocks of `count` elements each.
  std::size_t count = 0;
  const Datatype* type = nullptr;
  Integers counts = {};
  /// In extents of `type`; in bytes if `types` is given.
  Integers displacements = {};
  const MPI_Datatype* types = nullptr;

  /// Bytes of every block, if all are alike.
  [[nodiscard]] std::size_t block_bytes() const { return count * type->size(); }

  [[nodiscard]] TypedBuffer of(std::int32_t rank) const {
    const auto i = static_cast<std::size_t>(rank);
    const Datatype* block_type = types == nullptr ? type : datatype_from_handle(types[i]);
    const std::size_t block_count = counts.is_null() ? count : static_cast<std::size_t>(counts[i]);
    std::int64_t offset = 0;
    if (types != nullptr) {
      offset = displacements[i];
    } else if (!displacements.is_null()) {
      offset = displacements[i] * type->extent();
    } else if (counts.is_null()) {
      offset = static_cast<std::int64_t>(i * count) * type->extent();
    }
    return {.buffer = static_cast<std::byte*>(buffer) + offset,
            .count = block_count,
            .type = block_type};
  }
};

}  // namespace sorrel::mpi
