#include "grid/halo/sides.hpp"

#include <cstddef>
#include <optional>

namespace sorrel::grid {
namespace {

std::int64_t ghost_count(const Problem& problem, std::size_t dimension) {
  return problem.extents[dimension] > 1 ? problem.halo_width : 0;
}

std::optional<int> neighbour_of(const Problem& problem,
                                const Candidate& cut,
                                ProcessGrid coords,
                                std::size_t dimension,
                                int end) {
  const int parts = cut.grid[dimension];
  int& coordinate = coords[dimension];
  coordinate += end == 0 ? -1 : 1;
  if (coordinate < 0 || coordinate >= parts) {
    if (!problem.is_periodic[dimension] || problem.extents[dimension] == 1) return std::nullopt;
    coordinate = (coordinate + parts) % parts;
  }
  return rank_of(coords, cut.grid, cut.brick);
}

// The cells of a face but for its own dimension: the block's; with ghosts where these have come
// before, or where they go along for free.
Box slab_of(const Problem& problem, const Extents& block, std::size_t dimension, Pack pack) {
  Box slab;
  for (std::size_t d = 0; d < block.size(); ++d) {
    const std::int64_t ghosts = ghost_count(problem, d);
    const bool is_exchanged_before = problem.stencil == Stencil::box && d < dimension;
    const bool is_wide = pack == Pack::direct || is_exchanged_before;
    slab.first[d] = is_wide ? 0 : ghosts;
    slab.extents[d] = block[d] + (is_wide ? 2 * ghosts : 0);
  }
  return slab;
}

}  // namespace

std::vector<Side> sides_of(const Problem& problem, const Candidate& cut, int rank) {
  std::vector<Side> sides;
  const ProcessGrid coords = coords_of(rank, cut.grid, cut.brick);
  const Extents block = block_at(problem, cut.grid, coords).extents;
  const std::int64_t width = problem.halo_width;
  for (std::size_t d = 0; d < block.size(); ++d) {
    for (const int end : {0, 1}) {
      const auto neighbour = neighbour_of(problem, cut, coords, d, end);
      if (!neighbour) continue;
      Side side{.dimension = d, .end = end, .neighbour = *neighbour, .pack = cut.pack[d]};
      // A cut of the caller's own need not say how.
      if (side.pack == Pack::none) side.pack = Pack::rows;
      side.sent = side.ghosts = slab_of(problem, block, d, side.pack);
      side.sent.extents[d] = side.ghosts.extents[d] = width;
      side.sent.first[d] = end == 0 ? width : block[d];
      side.ghosts.first[d] = end == 0 ? 0 : block[d] + width;
      sides.push_back(side);
    }
  }
  return sides;
}

}  // namespace sorrel::grid
