//! Plan - which ranks change their worker, so that all workers have about the same load.
//!
//! Pure: no threads, no clock, no order of addresses. The same input gives the same plan.
//! Source: GreedyRefine of Charm++, which leaves ranks where they are as long as their worker is
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
  std::uint32_t worker = 0;
  /// It stays where it is.
  bool is_fixed = false;
};

struct Move {
  std::uint32_t rank = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;

  friend bool operator==(const Move&, const Move&) = default;
};

/// Sums of the loads of each worker.
[[nodiscard]] std::vector<double> worker_loads(std::span<const RankLoad> ranks,
                                               std::uint32_t worker_count);

/// The largest of them.
[[nodiscard]] double largest(std::span<const double> loads);

/// The largest over the mean, less 1: 0 is perfect balance. 0 without load.
[[nodiscard]] double imbalance(std::span<const double> loads);

/// At most `move_count_max` moves, by rank. Ranks of about the same load are taken by number, so
/// that neighbours stay together, and of the three least loaded workers the one that has more of a
/// rank's neighbours gets it. O(ranks (log ranks + workers)).
[[nodiscard]] std::vector<Move> plan_moves(std::span<const RankLoad> ranks,
                                           std::uint32_t worker_count,
                                           std::size_t move_count_max);

/// The sums after the moves.
[[nodiscard]] std::vector<double> worker_loads_after(std::span<const RankLoad> ranks,
                                                     std::uint32_t worker_count,
                                                     std::span<const Move> moves);

}  // namespace sorrel::balance
