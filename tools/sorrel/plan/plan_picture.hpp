//! The picture of a plan: a bar for every cut, by its predicted time, divided into its parts.
#pragma once

#include <string>

#include <sorrel/grid/plan.hpp>

namespace sorrel::tool {

/// An SVG document. Each process grid once, with its best overlap, fastest first; only the first
/// ones if there are very many.
[[nodiscard]] std::string picture_of(const grid::Plan& plan, const std::string& title);

}  // namespace sorrel::tool
