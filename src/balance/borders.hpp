//! Borders - which consecutive ranks each process has, so that all processes have about the same
//! load.
//!
//! Ranks keep their order, so neighbours stay together, and a rank that moves goes to a
//! neighbouring process in most cases. Pure: the same input gives the same borders in every
//! process. Source: chains-on-chains partitioning by a probe and bisection, Pinar and Aykanat,
//! "Fast optimal load balancing algorithms for 1D partitioning", 2004.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/prng.hpp"

namespace sorrel::balance {

/// Ranks in order, cut into one part for each process.
struct Chain {
  /// By rank; not negative.
  std::vector<double> loads;
  /// By rank: it must stay in its part.
  std::vector<bool> stays;
  /// By part: its first rank. The first one is 0. No part is empty.
  std::vector<std::int32_t> begins;
  /// By part: no rank may come or go.
  std::vector<bool> is_closed;
  /// By part, or empty: it keeps the ranks that must stay, and those between them, or one if there
  /// are none; whatever the loads. It has no effect if it is not possible for all such parts.
  std::vector<bool> is_given_up = {};
};

/// By part: the sum of its loads.
[[nodiscard]] std::vector<double> part_loads(const Chain& chain);

/// The begins of the parts after the move: those for which the largest load is smallest, or within
/// 2 % of the mean of it, and that are nearest to the present ones. The present ones if nothing
/// else is better. Loads of parts that are given up do not count.
[[nodiscard]] std::vector<std::int32_t> plan_borders(const Chain& chain);

/// Random ones, for tests: each that is allowed may come.
[[nodiscard]] std::vector<std::int32_t> shuffle_borders(const Chain& chain, Prng& random);

/// How many ranks change their part between two lists of begins.
[[nodiscard]] std::int32_t moved_count(std::span<const std::int32_t> before,
                                       std::span<const std::int32_t> after,
                                       std::int32_t rank_count);

}  // namespace sorrel::balance
