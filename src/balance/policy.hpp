//! Policy - when ranks move: gates, costs and hysteresis around plan.hpp.
//!
//! Fed with the time that each rank has computed in a window, it answers with moves, rarely. Pure:
//! the caller measures, and moves. README.md has the constants and their reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balance/gates.hpp"
#include "balance/plan.hpp"

namespace sorrel::balance {

/// Durations in the unit of the loads.
struct Costs {
  /// Cost of a stop of all workers.
  double stop = 0;
  /// Cost of a rank that moves: the move itself, and its data in the caches.
  double move = 0;
};

/// For the report at the end of the job.
struct PolicyCounts : StepCounts {
  std::uint64_t moves = 0;
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

  [[nodiscard]] PolicyCounts counts() const {
    return {gates_.counts(), move_count_, place_change_count_};
  }

 private:
  double update_loads(std::span<const RankLoad> ranks);

  std::uint32_t place_count_;
  const Costs costs_;
  /// Moving averages, with place and whether it may move.
  std::vector<RankLoad> loads_;
  /// Windows for which a rank that has moved stays.
  std::vector<std::uint8_t> rest_;
  Gates gates_;
  // Values of the last plan.
  double planned_before_ = 0;
  double planned_gain_ = 0;
  double planned_imbalance_ = 0;
  std::uint64_t move_count_ = 0;
  std::uint64_t place_change_count_ = 0;
};

}  // namespace sorrel::balance
