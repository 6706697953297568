//! Face - the cells that a block and its neighbour in one dimension exchange, as they lie in
//! memory.
//!
//! Pure. The array of a block has `halo_width` ghost cells on both sides of every dimension of more
//! than one cell. With a box stencil the dimensions are exchanged one after the other, and a face
//! takes along the ghosts of those before it; so corners arrive without messages of their own.
#pragma once

#include <vector>

#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

struct Face {
  std::size_t dimension = 0;
  /// Sides on which there is a neighbour: 0, 1 or 2.
  int side_count = 0;
  /// The neighbour is the block itself: a grid that is periodic and not cut here.
  bool is_own = false;
  /// Of the face's data, one side, all fields.
  std::int64_t bytes = 0;
  /// They lie in runs of so many bytes, the next run so far from the last one's begin.
  std::int64_t run_bytes = 0;
  std::int64_t stride_bytes = 0;
  /// With the ghosts around it the face would be one run: so many bytes. 0: it would not, or there
  /// are several fields.
  std::int64_t direct_bytes = 0;
};

/// The largest block of a process grid.
[[nodiscard]] Extents largest_block(const Problem& problem, const ProcessGrid& grid);

/// With its ghosts.
[[nodiscard]] Extents padded(const Problem& problem, const Extents& block);
[[nodiscard]] std::int64_t padded_bytes(const Problem& problem, const Extents& block);

[[nodiscard]] std::int64_t cell_count(const Extents& extents);

/// The dimensions from contiguous to farthest apart.
[[nodiscard]] PerDimension<std::size_t> memory_order(const Problem& problem);

/// The innermost dimension that has more than one cell.
[[nodiscard]] std::size_t contiguous_dimension(const Problem& problem);

/// The faces of the block that has the most neighbours, one for each dimension.
[[nodiscard]] PerDimension<Face> faces_of(const Problem& problem, const ProcessGrid& grid);

}  // namespace sorrel::grid
