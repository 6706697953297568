//! Problem - the regular grid to divide, and the computation on it.
//!
//! Plain data. Dimensions are those of the array, in the order of its declaration: in C, u[x][y][z]
//! has dimensions 0, 1, 2, and the last is contiguous. A grid of one or two dimensions leaves the
//! other extents at 1.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <sorrel/box.hpp>
#include <sorrel/result.hpp>

namespace sorrel::grid {

/// Most dimensions of a grid.
inline constexpr int dimension_count_max = 3;

/// One number for each dimension.
template <class T>
using PerDimension = std::array<T, dimension_count_max>;
/// Cells in each dimension.
using Extents = PerDimension<std::int64_t>;

/// Neighbours that a cell reads: along the axes only (star), or diagonals too (box; corners are
/// needed).
enum class Stencil { star, box };

/// Which dimension is contiguous in memory: the last, or the first.
enum class MemoryOrder { c, fortran };

/// The grid to divide, and the computation on it.
struct Problem {
  Extents extents{1, 1, 1};  ///< cells in each dimension
  /// Whether a dimension is periodic.
  PerDimension<bool> is_periodic{};
  /// Dimensions that no plan cuts: for a program that has its sequential algorithm there.
  PerDimension<bool> is_uncut{};
  /// Blocks begin at multiples of this many cells, which must divide the extents; more than 1 for
  /// the finer levels of a multigrid, so that a coarse cell and its fine ones are on one rank.
  std::int64_t grain = 1;
  std::int64_t element_bytes = 8;  ///< size of a cell of one array
  /// Number of arrays of this shape whose ghosts are exchanged together.
  int field_count = 1;
  /// Reach of the stencil in cells.
  std::int64_t halo_width = 1;
  Stencil stencil = Stencil::star;     ///< which neighbours a cell reads
  MemoryOrder order = MemoryOrder::c;  ///< which dimension is contiguous
  /// Operations for one update of a cell, all fields together; the default is a Jacobi sweep.
  double flops_per_cell = 6;
  double bytes_per_cell = 24;  ///< of that update: bytes moved from and to memory
  /// Memory limit in bytes of one rank's blocks with their ghosts; 0: none.
  std::int64_t memory_limit_bytes = 0;
};

/// Largest extent of a grid.
inline constexpr std::int64_t extent_max = 1'000'000'000;
/// Largest element.
inline constexpr std::int64_t element_bytes_max = 1 << 20;
/// Most fields of a problem.
inline constexpr int field_count_max = 10'000;
/// Most ranks of a plan.
inline constexpr int rank_count_max = 1'000'000;

/// @param problem any numbers
/// @return success, or the error in a problem and what is allowed
Result<void> check(const Problem& problem);

}  // namespace sorrel::grid
