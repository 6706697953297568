//! Process grids: every factorisation of a number of parts over a problem's dimensions.
//!
//! Pure. A grid is allowed if each block with a neighbour is at least as wide as the halo; a
//! dimension of one cell is never cut, nor one that the problem keeps uncut.
#pragma once

#include <vector>

#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

/// Every allowed grid of exactly `rank_count` parts, in lexicographic order.
[[nodiscard]] std::vector<ProcessGrid> process_grids(const Problem& problem, int rank_count);

[[nodiscard]] bool is_allowed(const Problem& problem, const ProcessGrid& grid);

/// The largest number of ranks, at most `rank_count`, for which there is a grid; at least 1.
[[nodiscard]] int usable_ranks(const Problem& problem, int rank_count);

}  // namespace sorrel::grid
