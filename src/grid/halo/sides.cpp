#include "grid/halo/sides.hpp"

#include <algorithm>
#include <optional>

#include "grid/plan/face.hpp"

namespace sorrel::grid {
namespace {

constexpr std::int64_t line_bytes = 64;
// 256 KiB of cache lines, a quarter of an L2 cache, on a thousand pages. Shorter: more messages.
constexpr std::int64_t runs_per_part = 4096;

std::int64_t ghost_count(const Problem& problem, std::size_t dimension) {
  return problem.extents[dimension] > 1 ? problem.halo_width : 0;
}

std::optional<int> neighbour_of(
    const Problem& problem, const Cut& cut, ProcessGrid coords, std::size_t dimension, int end) {
  const int parts = cut.grid[dimension];
  int& coordinate = coords[dimension];
  coordinate += end == 0 ? -1 : 1;
  if (coordinate < 0 || coordinate >= parts) {
    if (!problem.is_periodic[dimension] || problem.extents[dimension] == 1) return std::nullopt;
    coordinate = (coordinate + parts) % parts;
  }
  return rank_of(coords, cut.grid, cut.brick);
}

// The cells of a face in the dimensions other than its own: those of the block, and ghosts that
// were exchanged before or that are sent along at no cost.
Box<3> slab_of(const Problem& problem, const Extents& block, std::size_t dimension, Pack pack) {
  Box<3> slab;
  for (std::size_t d = 0; d < block.size(); ++d) {
    const std::int64_t ghosts = ghost_count(problem, d);
    const bool is_exchanged_before = problem.stencil == Stencil::box && d < dimension;
    const bool is_wide = pack == Pack::direct || is_exchanged_before;
    slab.lo[d] = is_wide ? 0 : ghosts;
    slab.hi[d] = block[d] + (is_wide ? 2 : 1) * ghosts;
  }
  return slab;
}

}  // namespace

std::vector<Side> sides_of(const Problem& problem, const Cut& cut, int rank) {
  std::vector<Side> sides;
  const ProcessGrid coords = coords_of(rank, cut.grid, cut.brick);
  const Extents block = block_at(problem, cut.grid, coords).extents();
  const std::int64_t width = problem.halo_width;
  for (std::size_t d = 0; d < block.size(); ++d) {
    for (const int end : {0, 1}) {
      const auto neighbour = neighbour_of(problem, cut, coords, d, end);
      if (!neighbour) continue;
      Side side{.dimension = d, .end = end, .neighbour = *neighbour, .pack = cut.pack[d]};
      // A cut of the caller's own may leave the pack open.
      if (side.pack == Pack::none) side.pack = Pack::rows;
      side.sent = side.ghosts = slab_of(problem, block, d, side.pack);
      side.sent.lo[d] = end == 0 ? width : block[d];
      side.ghosts.lo[d] = end == 0 ? 0 : block[d] + width;
      side.sent.hi[d] = side.sent.lo[d] + width;
      side.ghosts.hi[d] = side.ghosts.lo[d] + width;
      sides.push_back(side);
    }
  }
  return sides;
}

std::vector<Side> parts_of(const Problem& problem, const Side& side) {
  const std::size_t contiguous = contiguous_dimension(problem);
  const std::size_t outermost = memory_order(problem)[2];
  if (side.dimension != contiguous || outermost == contiguous ||
      problem.halo_width * problem.element_bytes >= line_bytes)
    return {side};
  const std::int64_t layers = side.sent.extent(outermost);
  const std::int64_t runs = side.sent.count() / problem.halo_width;
  const std::int64_t count = std::clamp<std::int64_t>(runs / runs_per_part, 1, layers);
  if (count == 1) return {side};
  std::vector<Side> parts(static_cast<std::size_t>(count), side);
  for (std::int64_t i = 0; i < count; ++i) {
    Side& part = parts[static_cast<std::size_t>(i)];
    part.is_part = true;
    for (Box<3>* box : {&part.sent, &part.ghosts}) {
      const std::int64_t first = box->lo[outermost];
      box->lo[outermost] = first + layers * i / count;
      box->hi[outermost] = first + layers * (i + 1) / count;
    }
  }
  return parts;
}

}  // namespace sorrel::grid
