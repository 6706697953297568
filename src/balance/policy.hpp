//! Policy - when ranks move: gates, costs and hysteresis around plan.hpp.
//!
//! Fed with the time that each rank has computed in a window, it answers with moves, rarely. Pure:
//! the caller measures, and moves. README.md has the constants and their reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/plan.hpp"

namespace sorrel::balance {

/// Durations in the unit of the loads.
struct Costs {
  /// Of a stop of all workers.
  double stop = 0;
  /// Of a rank that moves: the move itself, and its data in the caches.
  double move = 0;
};

/// For the report at the end of the job.
struct PolicyCounts {
  std::uint64_t windows = 0;
  /// Windows in which the places were uneven.
  std::uint64_t uneven_windows = 0;
  std::uint64_t steps = 0;
  std::uint64_t moves = 0;
  /// Sums over the steps that moved ranks: imbalance before, and in the window after.
  double imbalance_before = 0;
  double imbalance_after = 0;
  std::uint64_t judged_steps = 0;
  /// How often the number of places has changed.
  std::uint64_t place_changes = 0;
};

class Policy {
 public:
  Policy(std::size_t rank_count, std::uint32_t place_count, const Costs& costs);

  /// From now on there are so many places. What was learned about steps does not hold for them.
  void set_place_count(std::uint32_t place_count);

  /// From now on there are so many ranks, and perhaps others: nothing is known about them.
  void set_rank_count(std::size_t rank_count);

  [[nodiscard]] std::uint32_t place_count() const { return place_count_; }

  /// A window has passed, in which rank i at place ranks[i].place has computed for ranks[i].load.
  /// Returns the moves that are worth their cost; mostly none.
  [[nodiscard]] std::vector<Move> observe(std::span<const RankLoad> ranks);

  /// After a plan: its moves that were made. If there are none, the next plan comes later.
  void record_step(std::span<const Move> moved);

  [[nodiscard]] const PolicyCounts& counts() const { return counts_; }

 private:
  double update_loads(std::span<const RankLoad> ranks);
  void judge_last_step(double imbalance_now, double largest_now);

  std::uint32_t place_count_;
  const Costs costs_;
  /// Moving averages, with place and whether it may move.
  std::vector<RankLoad> loads_;
  /// Windows for which a rank that has moved stays.
  std::vector<std::uint8_t> rest_;
  std::uint32_t window_count_ = 0;
  std::uint32_t uneven_streak_ = 0;
  std::uint32_t windows_since_step_ = 0;
  /// Windows between two steps, at least.
  std::uint32_t distance_ = 1;
  // Of the step that has not been judged.
  std::uint32_t windows_to_judgement_ = 0;
  double largest_before_ = 0;
  double promised_gain_ = 0;
  // Of the last plan.
  double planned_before_ = 0;
  double planned_gain_ = 0;
  double planned_imbalance_ = 0;
  PolicyCounts counts_;
};

}  // namespace sorrel::balance
