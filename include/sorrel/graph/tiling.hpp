//! Tiling - a regular grid of cells, divided into a block for each rank and each block into tiles.
//!
//! Ranks are numbered with the last dimension fastest, as by MPI_Cart_create. Cells have the same
//! numbers on all ranks. Where a neighbour is on another machine, the outermost tiles of a block
//! may be thin, a *skin*: they wait for messages and are sent, the tiles within do neither. Plain
//! data.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <sorrel/graph/space.hpp>

namespace sorrel::graph {

/// Options of a Tiling; tiling_over() of over_mpi.hpp sets those that depend on a communicator.
struct TilingOptions {
  /// Ranks in each dimension, ignored in dimensions that the grid does not have.
  Key ranks{1, 1, 1, 1};
  int rank = 0;  ///< the index of this rank
  /// Whether a dimension is periodic.
  std::array<bool, dimension_count_max> is_periodic{};
  /// Largest number of cells of a tile within the block in each dimension; 0: the default, slabs
  /// across the first dimension, best for stencils that stream from memory.
  Key tile{};
  /// Width of the ghosts around a block: how far neighbours read into a tile.
  Index halo = 1;
  /// Dimensions along which the neighbours of every rank are on its own machine. Messages take
  /// little time there, and a skin would gain nothing. All ranks pass the same; see tiling_over().
  std::array<bool, dimension_count_max> is_near{};
  /// Whether there is a skin: without it tiles are fewer, and all of them wait for messages.
  bool has_skin = true;
  /// Cells of the skin in each dimension, at least `halo`, which is best for stencils that stream
  /// from memory: a thicker skin cuts more of the long rows. With default slabs, 0 is one slab.
  Key skin{};
};

/// A regular grid of cells, divided into a block for each rank and each block into tiles.
class Tiling {
 public:
  /// Divides a grid.
  ///
  /// @param cells the whole grid
  /// @param options ranks, tiles and halo
  /// @throws GraphError if a tile would be thinner than the halo, a rank would have no cells, or
  /// the rank is not one of the grid's
  Tiling(const Space& cells, const TilingOptions& options);

  /// @return 1 to 4
  [[nodiscard]] int dimension_count() const { return cells_.dimension_count(); }

  /// @return the whole grid
  [[nodiscard]] const Space& grid() const { return cells_; }

  /// @return the cells of this rank
  [[nodiscard]] const KeyBox& block() const { return block_; }

  /// @return the same with their ghosts
  [[nodiscard]] KeyBox block_with_ghosts() const;

  /// @return the width of the ghosts
  [[nodiscard]] Index halo() const { return options_.halo; }

  /// @return the tiles of the block
  [[nodiscard]] Space tiles() const;

  /// @param tile one of tiles()
  /// @return its cells
  [[nodiscard]] KeyBox cells(const Key& tile) const;

  /// @param dimension 0 is the first one
  /// @return whether the neighbours of all ranks there, if any, are on the rank's own machine
  [[nodiscard]] bool is_near(int dimension) const;

  /// @return the tiles that neither wait for nor are sent to ranks of other machines
  [[nodiscard]] KeyBox inner_tiles() const;

  /// @param dimension 0 is the first one
  /// @param end 0: the lower end, 1: the upper end
  /// @return the rank beside the block there, or none
  [[nodiscard]] std::optional<int> neighbour(int dimension, int end) const;

  /// @param direction -1, 0 or 1 in each dimension
  /// @return the rank whose block lies there, or none
  [[nodiscard]] std::optional<int> neighbour(const Key& direction) const;

 private:
  Space cells_;
  TilingOptions options_;
  Key coordinates_{};
  KeyBox block_;
  /// First cell of each tile in each dimension, and the end of the block.
  std::array<std::vector<Index>, dimension_count_max> cuts_;
};

/// A footprint: the cells up to `radius` away from every cell that is written.
struct Footprint {
  Index radius = 0;  ///< in cells
  /// Diagonals included, not along the axes only.
  bool is_box = false;
};

/// Cells along the axes, for Sweep::reads().
///
/// @param radius the largest distance, in cells
/// @return the footprint
constexpr Footprint star(Index radius) {
  return {radius, false};
}

/// Cells in every dimension, diagonals included, for Sweep::reads().
///
/// @param radius the largest distance, in cells
/// @return the footprint
constexpr Footprint box(Index radius) {
  return {radius, true};
}

}  // namespace sorrel::graph
