#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include <sorrel/graph/graph.hpp>
#include <sorrel/graph/tiling.hpp>

#include "base/text.hpp"
#include "graph/dag/dag.hpp"

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
// So that sums of cells and halos, and offsets in bytes, do not overflow.
constexpr Index cell_count_max = Index{1} << 40;

/// Thickness of slabs for a block of that extent. Neighbours along other dimensions get the same
/// result, whatever their number of cells there.
Index slab_of(Index length, const Space& cells, const TilingOptions& options) {
  Index plane = 1;
  for (std::size_t d = 1; d < static_cast<std::size_t>(cells.dimension_count()); ++d)
    plane *= (cells.extents()[d] + options.ranks[d] - 1) / options.ranks[d];
  const Index slab = std::min(cells_per_slab / plane, (length + slabs_wanted - 1) / slabs_wanted);
  return std::max({slab, cells_per_slab_min / plane, options.halo});
}

/// How one dimension of a block is cut.
struct Cutting {
  /// At most so many cells; 0: all.
  Index tile = 0;
  /// Whether more cells are possible where a tile would be thinner than the halo.
  bool is_default = false;
  Index halo = 0;
  Index low_skin = 0;
  Index high_skin = 0;
};

bool has_thin_tile(const std::vector<Index>& cuts, Index halo) {
  return std::adjacent_find(cuts.begin(), cuts.end(), [halo](Index one, Index next) {
           return next - one < halo;
         }) != cuts.end();
}

/// Cuts [lo, hi) into tiles: thin ones at the ends that have a skin, nearly equal ones between. A
/// block that is too small for that has no skin.
std::vector<Index> cuts_of(Index lo, Index hi, Cutting cutting) {
  const Index length = hi - lo;
  // At least one tile must remain between.
  const bool has_room = cutting.low_skin < length && cutting.high_skin < length - cutting.low_skin;
  const Index begin = has_room ? lo + cutting.low_skin : lo;
  const Index end = has_room ? hi - cutting.high_skin : hi;
  Index count = cutting.tile == 0 ? 1 : (end - begin - 1) / cutting.tile + 1;
  if (cutting.is_default && cutting.halo > 0)
    count = std::clamp<Index>((end - begin) / cutting.halo, 1, count);
  std::vector<Index> cuts{lo};
  if (begin != lo) cuts.push_back(begin);
  for (Index part = 1; part <= count; ++part)
    cuts.push_back(begin + begin_of_part(end - begin, count, part));
  if (end != hi) cuts.push_back(hi);
  if (length == end - begin || !has_thin_tile(cuts, cutting.halo)) return cuts;
  cutting.low_skin = cutting.high_skin = 0;
  return cuts_of(lo, hi, cutting);
}

void check(const Space& cells, const TilingOptions& options) {
  if (const std::string error = error_in(cells, "cells", cell_count_max); !error.empty())
    throw GraphError("tiling: the grid has " + error);
  Index ranks = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(cells.dimension_count()); ++d) {
    if (options.ranks[d] < 1 || options.ranks[d] > cells.extents()[d])
      throw GraphError(text_of("tiling: %lld cells for %lld ranks in dimension %zu",
                               static_cast<long long>(cells.extents()[d]),
                               static_cast<long long>(options.ranks[d]), d));
    ranks *= options.ranks[d];
    if (ranks > std::numeric_limits<int>::max())
      throw GraphError("tiling: more than 2^31 - 1 ranks");
    if (options.tile[d] < 0 || options.skin[d] < 0)
      throw GraphError(text_of("tiling: a negative size of tile or skin in dimension %zu", d));
  }
  if (options.halo < 0 || options.halo > cell_count_max)
    throw GraphError(text_of("tiling: a halo of %lld cells", static_cast<long long>(options.halo)));
  if (options.rank < 0 || options.rank >= ranks)
    throw GraphError(text_of("tiling: rank %d is not one of the grid's", options.rank));
}

}  // namespace

AnyTiling::AnyTiling(const Space& cells, const TilingOptions& options)
    : cells_(cells), options_(options) {
  check(cells, options);
  const auto dimensions = static_cast<std::size_t>(cells.dimension_count());
  for (std::size_t d = dimensions; d < options_.ranks.size(); ++d)
    options_.ranks[d] = 1;
  Index rank = options.rank;
  for (std::size_t d = dimensions; d-- > 0;) {
    coordinates_[d] = rank % options.ranks[d];
    rank /= options.ranks[d];
  }
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
    cuts_[d] =
        cuts_of(block_.lo[d], block_.hi[d],
                {tile, has_slabs, d < dimensions ? options.halo : 0, skin_at(0), skin_at(1)});
    for (std::size_t i = 1; d < dimensions && i < cuts_[d].size(); ++i)
      if (cuts_[d][i] - cuts_[d][i - 1] < options.halo)
        throw GraphError(text_of("tiling: a tile of %lld cells in dimension %zu, the halo has %lld",
                                 static_cast<long long>(cuts_[d][i] - cuts_[d][i - 1]), d,
                                 static_cast<long long>(options.halo)));
  }
}

Box<dimension_count_max> AnyTiling::block_with_ghosts() const {
  Box<dimension_count_max> cells = block_;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimension_count()); ++d) {
    cells.lo[d] -= options_.halo;
    cells.hi[d] += options_.halo;
  }
  return cells;
}

Space AnyTiling::tiles() const {
  Key extents{};
  for (std::size_t d = 0; d < extents.size(); ++d)
    extents[d] = static_cast<Index>(cuts_[d].size()) - 1;
  return {extents, dimension_count()};
}

Box<dimension_count_max> AnyTiling::cells(const Key& tile) const {
  Box<dimension_count_max> cells;
  for (std::size_t d = 0; d < tile.size(); ++d) {
    cells.lo[d] = cuts_[d][static_cast<std::size_t>(tile[d])];
    cells.hi[d] = cuts_[d][static_cast<std::size_t>(tile[d]) + 1];
  }
  return cells;
}

bool AnyTiling::is_near(int dimension) const {
  const auto d = static_cast<std::size_t>(dimension);
  return options_.is_near[d] || (options_.ranks[d] == 1 && !options_.is_periodic[d]);
}

Box<dimension_count_max> AnyTiling::inner_tiles() const {
  Box<dimension_count_max> inner = tiles().box();
  for (int d = 0; d < dimension_count(); ++d) {
    if (is_near(d)) continue;
    if (neighbour(d, 0)) ++inner.lo[static_cast<std::size_t>(d)];
    if (neighbour(d, 1)) --inner.hi[static_cast<std::size_t>(d)];
  }
  return inner;
}

std::optional<int> AnyTiling::neighbour(int dimension, int end) const {
  Key direction{};
  direction[static_cast<std::size_t>(dimension)] = end == 0 ? -1 : 1;
  return neighbour(direction);
}

std::optional<int> AnyTiling::neighbour(const Key& direction) const {
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
