//! The divisors of a number: what process grids of MPI and of the planner are made from. Pure.
#pragma once

#include <vector>

namespace sorrel {

/// Every divisor of `number` >= 1, ascending. O(sqrt(number)).
[[nodiscard]] std::vector<int> divisors_of(int number);

}  // namespace sorrel
