//! Fit - whether a problem, a cut, the ranks there are and their fields go together.
//!
//! Pure.
#pragma once

#include <span>
#include <string>

#include <sorrel/grid/array_view.hpp>
#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

/// What is wrong and what is allowed, one line; "" if nothing is. The problem's own troubles, too.
[[nodiscard]] std::string trouble_with(const Problem& problem, const Candidate& cut, int comm_size);

/// The same for the fields of a rank that has a block of these cells.
[[nodiscard]] std::string trouble_with(const Problem& problem,
                                       const Extents& cells,
                                       std::span<const ArrayView> fields);

/// The cells of a rank within the cut.
[[nodiscard]] Block block_of(const Problem& problem, const Candidate& cut, int rank);

}  // namespace sorrel::grid
