#include "grid/plan/grid_search.hpp"

#include <algorithm>
#include <cstddef>

namespace sorrel::grid {
namespace {

// More polls than this cost more than they gain.
constexpr int tile_count_max = 32;

bool is_faster(const Cut& left, const Cut& right) {
  return left.time.step_s() < right.time.step_s();
}

}  // namespace

void GridSearch::evaluate(const ProcessGrid& grid, std::vector<Cut>& found) {
  const Cut plain = best_placement(grid);
  found.push_back(plain);
  add_overlaps(plain, found);
}

Cut GridSearch::best_placement(const ProcessGrid& grid) {
  const std::vector<ProcessGrid> bricks = model_.bricks(grid);
  Cut best = model_.without_overlap(grid, bricks.front());
  for (std::size_t i = 1; i < bricks.size(); ++i)
    best = std::min(best, model_.without_overlap(grid, bricks[i]), is_faster);
  evaluated_count_ += static_cast<std::int64_t>(bricks.size());
  return best;
}

Cut GridSearch::fastest(const ProcessGrid& grid, const ProcessGrid& brick) {
  ++evaluated_count_;
  const Cut plain = model_.without_overlap(grid, brick);
  std::vector<Cut> cuts{plain};
  add_overlaps(plain, cuts);
  return *std::min_element(cuts.begin(), cuts.end(), is_faster);
}

void GridSearch::add_overlaps(const Cut& plain, std::vector<Cut>& found) {
  if (plain.rank_count() == 1) return;
  found.push_back(overlapped(plain, {.kind = Overlap::Kind::faces_first}));
  found.push_back(best_tiles(plain));
}

Cut GridSearch::best_tiles(const Cut& plain) {
  Cut best = overlapped(plain, {.kind = Overlap::Kind::tiles, .tile_count = 2});
  for (int count = 4; count <= tile_count_max; count *= 2)
    best = std::min(best, overlapped(plain, {.kind = Overlap::Kind::tiles, .tile_count = count}),
                    is_faster);
  return best;
}

Cut GridSearch::overlapped(const Cut& plain, const Overlap& overlap) {
  ++evaluated_count_;
  return model_.with_overlap(plain, overlap);
}

}  // namespace sorrel::grid
