//! Random problems for property tests: seeded, small enough for slow oracles.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

#include <sorrel/grid/problem.hpp>

#include "base/prng.hpp"

namespace sorrel::grid {

/// SORREL_SEED, or a fixed one; printed with every failure of the test's scope.
inline std::uint64_t test_seed() {
  const char* chosen = std::getenv("SORREL_SEED");
  return chosen == nullptr ? 20261120 : std::strtoull(chosen, nullptr, 10);
}

inline Problem random_problem(Prng& prng) {
  Problem problem;
  const std::uint64_t dimensions = 1 + prng.below(3);
  for (std::size_t d = 0; d < dimensions; ++d) {
    problem.extents[d] = static_cast<std::int64_t>(2 + prng.below(40));
    problem.is_periodic[d] = prng.below(2) == 1;
  }
  if (prng.below(3) == 0) {
    problem.grain = 2;
    for (std::int64_t& extent : problem.extents)
      if (extent > 1) extent *= 2;
  }
  problem.element_bytes = std::int64_t{4} << prng.below(3);
  problem.field_count = static_cast<int>(1 + prng.below(3));
  problem.halo_width = static_cast<std::int64_t>(1 + prng.below(2));
  problem.stencil = prng.below(2) == 1 ? Stencil::box : Stencil::star;
  problem.order = prng.below(2) == 1 ? MemoryOrder::fortran : MemoryOrder::c;
  return problem;
}

inline std::string text_of(const Problem& problem) {
  std::string text;
  for (const std::int64_t extent : problem.extents)
    text += std::to_string(extent) + " ";
  return text + "halo " + std::to_string(problem.halo_width) + " grain " +
         std::to_string(problem.grain) + " fields " + std::to_string(problem.field_count) +
         (problem.order == MemoryOrder::c ? " C" : " Fortran") +
         (problem.stencil == Stencil::box ? " box" : " star");
}

}  // namespace sorrel::grid
