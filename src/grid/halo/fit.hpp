//! Fit - whether a problem, a cut, the number of ranks and the fields match.
//!
//! Pure.
#pragma once

#include <span>
#include <string>

#include <sorrel/grid/array_view.hpp>
#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

/// Returns the error and what is allowed, one line; "" if there is none. Checks the problem, too.
[[nodiscard]] std::string error_in(const Problem& problem, const Cut& cut, int comm_size);

/// Checks the fields of a rank that has a block of these cells; returns as above.
[[nodiscard]] std::string error_in(const Problem& problem,
                                   const Extents& cells,
                                   std::span<const ArrayView> fields);

/// The cells of a rank within the cut.
[[nodiscard]] Box<3> block_of(const Problem& problem, const Cut& cut, int rank);

}  // namespace sorrel::grid
