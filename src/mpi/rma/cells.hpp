//! Cells - the elements of a window that an accumulate changes or reads.
//!
//! Each element is read and written as a whole while the target's accumulate lock is held: that is
//! the atomicity MPI requires of accumulates. A long operation takes the lock anew for each piece.
//! Any worker that can address the memory; never suspends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/collectives/block_list.hpp"
#include "mpi/datatype/copy.hpp"
#include "mpi/op/op.hpp"
#include "mpi/rma/spin_lock.hpp"

namespace sorrel::mpi {

/// The element that all basic elements of a datatype are.
struct CellUnit {
  Element element = Element::none;
  /// In a packed stream; 0: the elements of the datatype differ, or it has none.
  std::uint32_t packed_bytes = 0;
  /// The predefined datatype, if an array of it has gaps: pairs such as MPI_DOUBLE_INT.
  const Datatype* padded = nullptr;
};

[[nodiscard]] CellUnit cell_unit_of(const Datatype& type);

/// The unit of a type, from what a message tells of it.
[[nodiscard]] CellUnit cell_unit_of(Element element, std::uint32_t packed_bytes);

/// Combines packed operands into packed elements: `cells` gets the results. `kernel` is not null.
void combine_packed(const CellUnit& unit,
                    ReduceKernel kernel,
                    const std::byte* operand,
                    std::byte* cells,
                    std::size_t bytes);

struct Cells {
  SpinLock& lock;
  TypedBuffer target;
  CellUnit unit;
  /// Null: the elements are read only (MPI_NO_OP).
  ReduceKernel kernel;

  /// Applies packed operands to the part `range` of the packed stream of the target, whose bounds
  /// are multiples of an element; `result`, if not null, gets the elements as they were, packed.
  void apply(PackedRange range, const std::byte* operand, std::byte* result) const;

  /// Applies a typed buffer to all elements; `operand` and `result` may be null.
  void apply_all(const TypedBuffer* operand, const TypedBuffer* result) const;
};

}  // namespace sorrel::mpi
