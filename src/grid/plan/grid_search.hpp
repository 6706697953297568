//! GridSearch - the placements and kinds of overlap of one process grid, and the fastest of them.
//!
//! Pure. Holds a reference to the cost model, which must outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "grid/plan/cost_model.hpp"

namespace sorrel::grid {

class GridSearch {
 public:
  explicit GridSearch(const CostModel& model) : model_(model) {}

  /// Appends the grid's cuts in its best placement: without overlap, and the best of each kind.
  void evaluate(const ProcessGrid& grid, std::vector<Cut>& found);

  /// The cut without overlap in its best placement.
  [[nodiscard]] Cut best_placement(const ProcessGrid& grid);

  /// The fastest cut in a given placement, over all kinds of overlap.
  [[nodiscard]] Cut fastest(const ProcessGrid& grid, const ProcessGrid& brick);

  /// Number of cuts evaluated so far.
  [[nodiscard]] std::int64_t evaluated_count() const { return evaluated_count_; }

 private:
  void add_overlaps(const Cut& plain, std::vector<Cut>& found);
  [[nodiscard]] Cut best_tiles(const Cut& plain);
  [[nodiscard]] Cut overlapped(const Cut& plain, const Overlap& overlap);

  const CostModel& model_;
  std::int64_t evaluated_count_ = 0;
};

}  // namespace sorrel::grid
