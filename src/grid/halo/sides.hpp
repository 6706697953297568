//! Sides - the cells that a block sends and the ghosts it fills, at each end of each dimension.
//!
//! Pure. Boxes are in the coordinates of the fields' views, ghosts included.
#pragma once

#include <cstddef>
#include <vector>

#include <sorrel/grid/array_view.hpp>
#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

struct Side {
  std::size_t dimension = 0;
  /// 0: the low end, 1: the high end.
  int end = 0;
  /// The neighbour's rank; the block's own rank where the grid is periodic and not cut.
  int neighbour = 0;
  Pack pack = Pack::rows;
  Box<3> sent{};
  Box<3> ghosts{};
  /// Whether this is one of several parts of a side.
  bool is_part = false;
};

/// Tag of a message towards an end of a dimension: below 6.
[[nodiscard]] constexpr int tag_towards(std::size_t dimension, int end) {
  return static_cast<int>(2 * dimension) + end;
}

/// The sides of a rank's block that have neighbours, by dimension.
[[nodiscard]] std::vector<Side> sides_of(const Problem& problem, const Cut& cut, int rank);

/// Splits a side with many short runs into parts, in the order of their messages; otherwise returns
/// the side itself. A cell that is sent and its ghost share a cache line: in parts, they are used
/// while a near cache and the TLB hold them. Both ends split alike.
[[nodiscard]] std::vector<Side> parts_of(const Problem& problem, const Side& side);

}  // namespace sorrel::grid
