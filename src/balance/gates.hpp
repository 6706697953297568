//! Gates - the constants of both policies (policy.hpp, process_policy.hpp). README.md has the
//! reasons.
#pragma once

#include <cstdint>

namespace sorrel::balance {

/// Windows of data before the first step.
inline constexpr std::uint32_t windows_min = 3;
/// Imbalance from which ranks move, in so many windows running.
inline constexpr double uneven_from = 0.10;
inline constexpr std::uint32_t uneven_windows_min = 2;
/// Sum of the errors of prediction over the load: above it the past does not tell the future.
inline constexpr double error_max = 0.5;
/// Windows over which a gain is counted: as long as the last state has lasted, and at most.
inline constexpr std::uint32_t horizon_max = 100;
/// The gain must be worth so many times the cost.
inline constexpr double gain_over_cost = 2;
inline constexpr std::uint32_t distance_max = 1024;
/// Windows after a step until it is judged: the first one may hold the work of both places.
inline constexpr std::uint32_t judgement_windows = 2;

}  // namespace sorrel::balance
