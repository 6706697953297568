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

/// A tiling whose number of dimensions is not in its type; see Tiling. Boxes have four dimensions,
/// from 0 to 1 where the grid has none.
class AnyTiling {
 public:
  /// Divides a grid.
  ///
  /// @param cells the whole grid
  /// @param options ranks, tiles and halo
  /// @throws GraphError if a tile would be thinner than the halo, a rank would have no cells, or
  /// the rank is not one of the grid's
  AnyTiling(const Space& cells, const TilingOptions& options);

  /// @return 1 to 4
  [[nodiscard]] int dimension_count() const { return cells_.dimension_count(); }

  /// @return the whole grid
  [[nodiscard]] const Space& grid() const { return cells_; }

  /// @return the cells of this rank
  [[nodiscard]] const Box<dimension_count_max>& block() const { return block_; }

  /// @return the same with their ghosts
  [[nodiscard]] Box<dimension_count_max> block_with_ghosts() const;

  /// @return the width of the ghosts
  [[nodiscard]] Index halo() const { return options_.halo; }

  /// @return the number of ranks that have a block each
  [[nodiscard]] Index rank_count() const {
    return options_.ranks[0] * options_.ranks[1] * options_.ranks[2] * options_.ranks[3];
  }

  /// @return the tiles of the block
  [[nodiscard]] Space tiles() const;

  /// @param tile one of tiles()
  /// @return its cells
  [[nodiscard]] Box<dimension_count_max> cells(const Key& tile) const;

  /// @param dimension 0 is the first one
  /// @return whether the neighbours of all ranks there, if any, are on the rank's own machine
  [[nodiscard]] bool is_near(int dimension) const;

  /// @return the tiles that neither wait for nor are sent to ranks of other machines
  [[nodiscard]] Box<dimension_count_max> inner_tiles() const;

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
  Box<dimension_count_max> block_;
  /// First cell of each tile in each dimension, and the end of the block.
  std::array<std::vector<Index>, dimension_count_max> cuts_;
};

/// A regular grid of cells of one to four dimensions, divided into a block for each rank and each
/// block into tiles. Fields, sweeps and views of it have as many dimensions, which the compiler
/// checks.
/// @code
/// const Tiling tiling({rows, columns}, {.tile = {16, columns}});  // a Tiling<2>
/// @endcode
template <std::size_t dimensions>
class Tiling : public AnyTiling {
  static_assert(dimensions >= 1 && dimensions <= dimension_count_max,
                "a Tiling has one to four dimensions");

 public:
  /// Divides a grid.
  ///
  /// @param extents the cells of the whole grid in each dimension
  /// @param options ranks, tiles and halo
  /// @throws GraphError if a tile would be thinner than the halo, a rank would have no cells, or
  /// the rank is not one of the grid's
  Tiling(const Index (&extents)[dimensions], const TilingOptions& options)
      : AnyTiling(space_of(extents), options) {}

  /// Divides a grid.
  ///
  /// @param extents the cells of the whole grid in each dimension
  /// @param options ranks, tiles and halo
  /// @throws GraphError as the constructor above
  Tiling(const std::array<Index, dimensions>& extents, const TilingOptions& options)
      : AnyTiling(space_of(extents), options) {}

  /// @return the cells of this rank
  [[nodiscard]] Box<dimensions> block() const {
    return AnyTiling::block().template first<dimensions>();
  }

  /// @return the same with their ghosts
  [[nodiscard]] Box<dimensions> block_with_ghosts() const {
    return AnyTiling::block_with_ghosts().template first<dimensions>();
  }

  /// @param tile one of tiles()
  /// @return its cells
  [[nodiscard]] Box<dimensions> cells(const Key& tile) const {
    return AnyTiling::cells(tile).template first<dimensions>();
  }

 private:
  template <class Extents>
  static Space space_of(const Extents& extents) {
    Key all{1, 1, 1, 1};
    for (std::size_t d = 0; d < dimensions; ++d)
      all[d] = extents[d];
    return {all, static_cast<int>(dimensions)};
  }
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
