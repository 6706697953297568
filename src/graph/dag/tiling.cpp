#include <algorithm>
#include <cstddef>

#include <sorrel/graph/graph.hpp>
#include <sorrel/graph/tiling.hpp>

#include "base/text.hpp"

namespace sorrel::graph {

namespace {

/// Begin of part `part` of `count` nearly equal parts of `length`; the first parts are longer.
Index begin_of_part(Index length, Index count, Index part) {
  return length / count * part + std::min(part, length % count);
}

// As many cells as a sweep covers in some hundred microseconds, but enough slabs to sweep while
// messages are in flight, unless a slab would be too little for a task.
constexpr Index cells_per_slab = Index{1} << 18;
constexpr Index cells_per_slab_min = Index{1} << 12;
constexpr Index slabs_wanted = 4;

/// Thickness of slabs for a block of that extent. Neighbours along other dimensions get the same
/// result, whatever their number of cells there.
Index slab_of(Index length, const Space& cells, const TilingOptions& options) {
  Index plane = 1;
  for (std::size_t d = 1; d < static_cast<std::size_t>(cells.dimension_count()); ++d)
    plane *= (cells.extents()[d] + options.ranks[d] - 1) / options.ranks[d];
  const Index slab = std::min(cells_per_slab / plane, (length + slabs_wanted - 1) / slabs_wanted);
  return std::max({slab, cells_per_slab_min / plane, options.halo});
}

/// Cuts [lo, hi) into tiles: thin ones at the ends that have a skin, nearly equal ones between.
std::vector<Index> cuts_of(Index lo, Index hi, Index tile, Index low_skin, Index high_skin) {
  std::vector<Index> cuts{lo};
  // At least one tile must remain between.
  if (hi - lo <= low_skin + high_skin) low_skin = high_skin = 0;
  const Index begin = lo + low_skin;
  const Index end = hi - high_skin;
  const Index count = tile <= 0 ? 1 : (end - begin + tile - 1) / tile;
  if (low_skin > 0) cuts.push_back(begin);
  for (Index part = 1; part <= count; ++part)
    cuts.push_back(begin + begin_of_part(end - begin, count, part));
  if (high_skin > 0) cuts.push_back(hi);
  return cuts;
}

}  // namespace

Tiling::Tiling(const Space& cells, const TilingOptions& options)
    : cells_(cells), options_(options) {
  const auto dimensions = static_cast<std::size_t>(cells.dimension_count());
  for (std::size_t d = dimensions; d < options_.ranks.size(); ++d)
    options_.ranks[d] = 1;
  Index rank = options.rank;
  for (std::size_t d = dimensions; d-- > 0;) {
    if (options.ranks[d] < 1 || options.ranks[d] > cells.extents()[d])
      throw GraphError(text_of("tiling: %lld cells for %lld ranks in dimension %zu",
                               static_cast<long long>(cells.extents()[d]),
                               static_cast<long long>(options.ranks[d]), d));
    coordinates_[d] = rank % options.ranks[d];
    rank /= options.ranks[d];
  }
  if (options.rank < 0 || rank != 0)
    throw GraphError(text_of("tiling: rank %d is not one of the grid's", options.rank));
  for (std::size_t d = 0; d < cuts_.size(); ++d) {
    const Index parts = d < dimensions ? options.ranks[d] : 1;
    block_.lo[d] = begin_of_part(cells.extents()[d], parts, coordinates_[d]);
    block_.hi[d] = begin_of_part(cells.extents()[d], parts, coordinates_[d] + 1);
  }
  for (std::size_t d = 0; d < cuts_.size(); ++d) {
    const bool has_slabs = d == 0 && options.tile[d] == 0;
    const Index skin = std::max(options.halo, options.skin[d]);
    const bool may_have_skin =
        options.has_skin && !options.is_near[d] && !(has_slabs && options.skin[d] == 0);
    const auto skin_at = [&](int end) {
      return may_have_skin && neighbour(static_cast<int>(d), end) ? skin : Index{0};
    };
    const Index tile =
        has_slabs ? slab_of(block_.hi[0] - block_.lo[0], cells, options) : options.tile[d];
    cuts_[d] = cuts_of(block_.lo[d], block_.hi[d], tile, skin_at(0), skin_at(1));
    for (std::size_t i = 1; d < dimensions && i < cuts_[d].size(); ++i)
      if (cuts_[d][i] - cuts_[d][i - 1] < options.halo)
        throw GraphError(text_of("tiling: a tile of %lld cells in dimension %zu, the halo has %lld",
                                 static_cast<long long>(cuts_[d][i] - cuts_[d][i - 1]), d,
                                 static_cast<long long>(options.halo)));
  }
}

KeyBox Tiling::block_with_ghosts() const {
  KeyBox cells = block_;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimension_count()); ++d) {
    cells.lo[d] -= options_.halo;
    cells.hi[d] += options_.halo;
  }
  return cells;
}

Space Tiling::tiles() const {
  Key extents{};
  for (std::size_t d = 0; d < extents.size(); ++d)
    extents[d] = static_cast<Index>(cuts_[d].size()) - 1;
  return {extents, dimension_count()};
}

KeyBox Tiling::cells(const Key& tile) const {
  KeyBox cells;
  for (std::size_t d = 0; d < tile.size(); ++d) {
    cells.lo[d] = cuts_[d][static_cast<std::size_t>(tile[d])];
    cells.hi[d] = cuts_[d][static_cast<std::size_t>(tile[d]) + 1];
  }
  return cells;
}

bool Tiling::is_near(int dimension) const {
  const auto d = static_cast<std::size_t>(dimension);
  return options_.is_near[d] || (options_.ranks[d] == 1 && !options_.is_periodic[d]);
}

KeyBox Tiling::inner_tiles() const {
  KeyBox inner = tiles().box();
  for (int d = 0; d < dimension_count(); ++d) {
    if (is_near(d)) continue;
    if (neighbour(d, 0)) ++inner.lo[static_cast<std::size_t>(d)];
    if (neighbour(d, 1)) --inner.hi[static_cast<std::size_t>(d)];
  }
  return inner;
}

std::optional<int> Tiling::neighbour(int dimension, int end) const {
  Key direction{};
  direction[static_cast<std::size_t>(dimension)] = end == 0 ? -1 : 1;
  return neighbour(direction);
}

std::optional<int> Tiling::neighbour(const Key& direction) const {
  Key there = coordinates_;
  for (std::size_t d = 0; d < there.size(); ++d) {
    if (direction[d] != 0 && static_cast<int>(d) >= dimension_count()) return std::nullopt;
    there[d] += direction[d];
    if (there[d] >= 0 && there[d] < options_.ranks[d]) continue;
    if (!options_.is_periodic[d]) return std::nullopt;
    there[d] = (there[d] + options_.ranks[d]) % options_.ranks[d];
  }
  Index rank = 0;
  for (std::size_t e = 0; e < static_cast<std::size_t>(dimension_count()); ++e)
    rank = rank * options_.ranks[e] + there[e];
  return static_cast<int>(rank);
}

}  // namespace sorrel::graph
