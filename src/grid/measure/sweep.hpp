//! Sweep - one update of a box of cells by the average of the six neighbours, as stencil codes do.
//!
//! Pure. What is timed to learn how fast a processor computes, and what verify() runs between two
//! exchanges of ghosts.
#pragma once

#include <sorrel/grid/array_view.hpp>

namespace sorrel::grid {

/// Flops and bytes of one cell, for a Problem that is swept.
inline constexpr double sweep_flops_per_cell = 6;
inline constexpr double sweep_bytes_per_cell = 24;

/// target(cell) = average of source's neighbours, for the cells of `box`; both are dense arrays in
/// C order, of the same extents, whose elements are some doubles; with a ghost around the box in
/// every dimension of more than one cell.
void sweep(const ArrayView& source, const ArrayView& target, const Box& box);

}  // namespace sorrel::grid
