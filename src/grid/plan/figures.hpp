//! Figures - times, sizes and extents as texts of the planner's output.
//!
//! Pure.
#pragma once

#include <cstdint>
#include <string>

#include <sorrel/grid/problem.hpp>

namespace sorrel::grid {

/// Three figures and a unit.
[[nodiscard]] std::string seconds_text(double seconds);
[[nodiscard]] std::string size_text(std::int64_t bytes);

/// "64 x 32", with as many dimensions as the problem has.
[[nodiscard]] std::string extents_text(const Extents& extents, const Problem& problem);

}  // namespace sorrel::grid
