//! The reason for a level's recommendation, as text.
//!
//! Pure.
#pragma once

#include <string>

#include <sorrel/grid/multigrid_plan.hpp>

namespace sorrel::grid {

/// One line. `before` is the grid of the level before; `other` the best grid that gathers, if the
/// level keeps `before`.
[[nodiscard]] std::string why_of(const LevelPlan& level,
                                 const ProcessGrid& before,
                                 const ProcessGrid& other);

}  // namespace sorrel::grid
