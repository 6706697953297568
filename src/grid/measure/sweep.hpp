//! Sweep - one update of a box of cells by the average of the six neighbours, as in stencil codes.
//!
//! Pure. measure() times it for the speed of a processor; verify() runs it between two exchanges of
//! ghosts.
#pragma once

#include <sorrel/grid/array_view.hpp>

namespace sorrel::grid {

/// Flops and bytes per cell, for the Problem of a sweep.
inline constexpr double sweep_flops_per_cell = 6;
inline constexpr double sweep_bytes_per_cell = 24;

/// target(cell) = average of source's neighbours, for the cells of `box`. Both arrays are dense, in
/// C order and of the same extents; their elements are whole doubles. Every dimension of more than
/// one cell has a ghost on each side of the box.
void sweep(const ArrayView& source, const ArrayView& target, const Box<3>& box);

}  // namespace sorrel::grid
