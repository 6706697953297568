//! Gather cost - the time to move the cells of a grid onto fewer ranks, and back.
//!
//! Pure; README.md in this folder has the equation.
#pragma once

#include <sorrel/grid/plan.hpp>

namespace sorrel::grid {

/// Whether each block of `coarse` consists of whole blocks of `fine`.
[[nodiscard]] bool divides(const ProcessGrid& coarse, const ProcessGrid& fine);

/// Seconds in which a rank of `coarse` gets one value of each cell of its block from the ranks of
/// `fine`, and returns one. 0 if both are equal; `coarse` divides `fine`.
[[nodiscard]] double gather_seconds(const Machine& machine,
                                    const Problem& problem,
                                    const ProcessGrid& fine,
                                    const ProcessGrid& coarse);

}  // namespace sorrel::grid
