//! Plan - which ranks change their place, so that all places have about the same load.
//!
//! A *place* is what runs one rank at a time: a thread, and the workers that it runs.
//! Pure: no threads, no clock, no order of addresses. The same input gives the same plan.
//! Source: GreedyRefine of Charm++, which leaves ranks where they are as long as their place is
//! not too full, and so moves few of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sorrel::balance {

struct RankLoad {
  /// Any unit, the same for all ranks; not negative.
  double load = 0;
  std::uint32_t place = 0;
  /// It stays where it is.
  bool is_fixed = false;
};

struct Move {
  std::uint32_t rank = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  friend bool operator==(const Move&, const Move&) = default;
};

/// Sums of the loads of each place.
[[nodiscard]] std::vector<double> place_loads(std::span<const RankLoad> ranks,
                                              std::uint32_t place_count);

/// The largest of them.
[[nodiscard]] double largest(std::span<const double> loads);

/// The largest over the mean, less 1: 0 is perfect balance. 0 without load.
[[nodiscard]] double imbalance(std::span<const double> loads);

/// At most `move_count_max` moves, by rank. Ranks of about the same load are taken by number, so
/// that neighbours stay together, and of the three least loaded places the one that has more of a
/// rank's neighbours gets it. If that takes more moves, as many go from the fullest places to the
/// least loaded ones. O(ranks (log ranks + places)), or O(moves ranks) with 256 moves at most.
[[nodiscard]] std::vector<Move> plan_moves(std::span<const RankLoad> ranks,
                                           std::uint32_t place_count,
                                           std::size_t move_count_max);

/// The sums after the moves.
[[nodiscard]] std::vector<double> place_loads_after(std::span<const RankLoad> ranks,
                                                    std::uint32_t place_count,
                                                    std::span<const Move> moves);

}  // namespace sorrel::balance
