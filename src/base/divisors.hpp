//! The divisors of a number, for the process grids of MPI and of the planner. Pure.
#pragma once

#include <vector>

namespace sorrel {

/// Every divisor of `number` >= 1, ascending. O(sqrt(number)).
[[nodiscard]] std::vector<int> divisors_of(int number);

}  // namespace sorrel
