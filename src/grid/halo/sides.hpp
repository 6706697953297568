//! Sides - which cells a block sends and which ghosts it fills, at each end of each dimension.
//!
//! Pure. Boxes are in the coordinates of the fields' views, ghosts included.
#pragma once

#include <vector>

#include <sorrel/grid/array_view.hpp>
#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

struct Side {
  std::size_t dimension = 0;
  /// 0: the low end, 1: the high end.
  int end = 0;
  /// The rank there; the block's own where the grid is periodic and not cut.
  int neighbour = 0;
  Pack pack = Pack::rows;
  Box sent{};
  Box ghosts{};
};

/// The sides of a rank's block that have neighbours, by dimension.
[[nodiscard]] std::vector<Side> sides_of(const Problem& problem, const Candidate& cut, int rank);

}  // namespace sorrel::grid
