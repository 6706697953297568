//! Face - the cells that a block and its neighbour in one dimension exchange, and their memory
//! layout.
//!
//! Pure. The array of a block has `halo_width` ghost cells on both sides of every dimension of more
//! than one cell. With a box stencil the dimensions are exchanged one after the other, and a face
//! includes the ghosts of the dimensions before it, so corners need no messages of their own.
#pragma once

#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

struct Face {
  std::size_t dimension = 0;
  /// Number of sides with a neighbour: 0, 1 or 2.
  int side_count = 0;
  /// Whether the ends of the dimension are neighbours.
  bool is_periodic = false;
  /// Whether the neighbour is the block itself: the grid is periodic and not cut here.
  bool is_own = false;
  /// Size of one side's data, all fields.
  std::int64_t bytes = 0;
  /// Length of the data's contiguous runs, and the distance between the begins of two runs.
  std::int64_t run_bytes = 0;
  std::int64_t stride_bytes = 0;
  /// Size of the face with the ghosts around it, if these are one run. 0: they are not, or there
  /// are several fields.
  std::int64_t direct_bytes = 0;
};

/// The largest block of a process grid.
[[nodiscard]] Extents largest_block(const Problem& problem, const ProcessGrid& grid);

/// Extents of a block with its ghosts, and their size.
[[nodiscard]] Extents padded(const Problem& problem, const Extents& block);
[[nodiscard]] std::int64_t padded_bytes(const Problem& problem, const Extents& block);

[[nodiscard]] std::int64_t cell_count(const Extents& extents);

/// The dimensions in the order of their strides, the contiguous one first.
[[nodiscard]] PerDimension<std::size_t> memory_order(const Problem& problem);

/// The innermost dimension that has more than one cell.
[[nodiscard]] std::size_t contiguous_dimension(const Problem& problem);

/// Sides with a neighbour, of the part that has the most in a row of parts. The only part of a
/// periodic row is its own neighbour on both sides.
[[nodiscard]] int side_count_of(int part_count, bool is_periodic);

/// The faces of the block that has the most neighbours, one for each dimension.
[[nodiscard]] PerDimension<Face> faces_of(const Problem& problem, const ProcessGrid& grid);

}  // namespace sorrel::grid
