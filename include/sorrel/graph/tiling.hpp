//! Tiling - a regular grid of cells, cut into a block for each rank and the block into tiles.
//!
//! Ranks are numbered with the last dimension fastest, as by MPI_Cart_create. Cells have the same
//! numbers on all ranks. Where a neighbour is another rank, the block's outermost tiles are thin, a
//! *skin*: they wait for messages and are sent, while the tiles within do neither. Pure data.
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
  /// Cells of a tile within the block, at most; 0: as many as the block has.
  Key tile{};
  /// How far a tile's neighbours may look into it; and the width of the ghosts around a block.
  Index halo = 1;
  /// Whether there is a skin: without, tiles are fewer, and all of them wait for messages.
  bool has_skin = true;
  /// Cells of the skin in each dimension, and at least `halo`, which is best for stencils that
  /// stream from memory: a thicker one cuts more of the long rows.
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

  /// The tiles that have nothing to do with other ranks.
  [[nodiscard]] KeyBox inner_tiles() const;

  /// The rank beside the block at an end of a dimension (0 is the lower end), or none.
  [[nodiscard]] std::optional<int> neighbour(int dimension, int end) const;

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
