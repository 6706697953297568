//! Tiling - a regular grid of cells, cut into a block for each rank and the block into tiles.
//!
//! Ranks are numbered with the last dimension fastest, as by MPI_Cart_create. Cells have the same
//! numbers on all ranks. Where a neighbour is on another machine, the block's outermost tiles may
//! be thin, a *skin*: they wait for messages and are sent, while the tiles within do neither. Pure
//! data.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <sorrel/graph/space.hpp>

namespace sorrel::graph {

struct TilingOptions {
  /// Ranks in each dimension, and which of them this is.
  Key ranks{1, 1, 1};
  int rank = 0;
  /// Whether the grid's two ends in a dimension are neighbours.
  std::array<bool, dimension_count_max> is_periodic{};
  /// Cells of a tile within the block, at most; 0: as is best for stencils that stream from memory,
  /// which is slabs across the first dimension.
  Key tile{};
  /// How far a tile's neighbours may look into it; and the width of the ghosts around a block.
  Index halo = 1;
  /// Dimensions along which every rank's neighbours are on its own machine. There messages are over
  /// at once, and a skin would be for nothing. All ranks say the same; see tiling_over().
  std::array<bool, dimension_count_max> is_near{};
  /// Whether there is a skin: without, tiles are fewer, and all of them wait for messages.
  bool has_skin = true;
  /// Cells of the skin in each dimension, and at least `halo`, which is best for stencils that
  /// stream from memory: a thicker one cuts more of the long rows. Where slabs are as is best, 0 is
  /// a slab.
  Key skin{};
};

class Tiling {
 public:
  /// Throws GraphError if a tile would be thinner than the halo, or a rank without cells.
  Tiling(const Space& cells, const TilingOptions& options);

  [[nodiscard]] int dimension_count() const { return cells_.dimension_count(); }

  /// The whole grid; the cells of this rank; these with their ghosts.
  [[nodiscard]] const Space& grid() const { return cells_; }

  [[nodiscard]] const KeyBox& block() const { return block_; }

  [[nodiscard]] KeyBox block_with_ghosts() const;

  [[nodiscard]] Index halo() const { return options_.halo; }

  /// The block's tiles, and the cells of one.
  [[nodiscard]] Space tiles() const;
  [[nodiscard]] KeyBox cells(const Key& tile) const;

  /// Whether all ranks' neighbours along a dimension, if there are any, are on their own machines.
  [[nodiscard]] bool is_near(int dimension) const;

  /// The tiles that have nothing to do with other machines' ranks.
  [[nodiscard]] KeyBox inner_tiles() const;

  /// The rank beside the block at an end of a dimension (0 is the lower end), or none.
  [[nodiscard]] std::optional<int> neighbour(int dimension, int end) const;

  /// The rank that is so many blocks (-1, 0 or 1) away in each dimension, or none.
  [[nodiscard]] std::optional<int> neighbour(const Key& direction) const;

 private:
  Space cells_;
  TilingOptions options_;
  Key coordinates_{};
  KeyBox block_;
  /// Where the tiles begin in each dimension, and the block's end.
  std::array<std::vector<Index>, dimension_count_max> cuts_;
};

/// Cells of a part, a number of cells wide on both sides of every cell that is written.
struct Footprint {
  Index radius = 0;
  /// All around, not along the axes only.
  bool is_box = false;
};

constexpr Footprint star(Index radius) {
  return {radius, false};
}

constexpr Footprint box(Index radius) {
  return {radius, true};
}

}  // namespace sorrel::graph
