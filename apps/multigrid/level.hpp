//! Level - one grid of the hierarchy: its blocks, their ghosts, and what is done to the cells.
//!
//! Double-precision complex cells, values at their centres, u = 0 on the cube's surface: a ghost
//! outside of it is minus the cell inside. The operator is (6 u - its six neighbours) / h^2.
#pragma once

#include <complex>
#include <mpi.h>
#include <optional>
#include <vector>

#include <sorrel/grid/halo.hpp>

using Cell = std::complex<double>;
namespace grid = sorrel::grid;

/// A block with a ghost on every side.
class Field {
 public:
  explicit Field(const grid::Extents& cells)
      : room_{cells[0] + 2, cells[1] + 2, cells[2] + 2},
        data_(static_cast<std::size_t>(room_[0] * room_[1] * room_[2])) {}

  [[nodiscard]] grid::ArrayView view() {
    return grid::dense_view(data_.data(), room_, sizeof(Cell), grid::MemoryOrder::c);
  }

  /// Indices from 0 (a ghost) to the block's extent plus 1 (the other).
  Cell& operator()(std::int64_t x, std::int64_t y, std::int64_t z) {
    return data_[static_cast<std::size_t>((x * room_[1] + y) * room_[2] + z)];
  }

  void clear() { std::fill(data_.begin(), data_.end(), Cell{}); }

 private:
  grid::Extents room_;
  std::vector<Cell> data_;
};

class Level {
 public:
  /// The level of a cube of n^3 cells; blocks begin at multiples of `grain` cells.
  Level(MPI_Comm comm, std::int64_t n, std::int64_t grain, const grid::Candidate& cut);

  Field u;
  Field f;

  [[nodiscard]] std::int64_t n() const { return n_; }

  [[nodiscard]] double h() const { return 1.0 / static_cast<double>(n_); }

  [[nodiscard]] const grid::Problem& problem() const { return problem_; }

  [[nodiscard]] const grid::Candidate& cut() const { return cut_; }

  [[nodiscard]] const grid::Block& block() const { return block_; }

  /// Some sweeps of damped Jacobi.
  void smooth(int sweeps);

  /// r = f - A u; returns the sum of |r|^2 over this rank's cells.
  double compute_residual();

  /// The right-hand side of the next coarser level from the residual; its u becomes 0.
  void restrict_to(Level& coarse);

  /// Adds the coarser level's u, interpolated.
  void correct_by(Level& coarse);

  /// visit(x, y, z), for the cells of the block, by their indices in the fields.
  template <class Visit>
  void each_cell(Visit&& visit) const {
    for (std::int64_t x = 1; x <= block_.extents[0]; ++x)
      for (std::int64_t y = 1; y <= block_.extents[1]; ++y)
        for (std::int64_t z = 1; z <= block_.extents[2]; ++z)
          visit(x, y, z);
  }

 private:
  void fill_ghosts();
  void reflect(std::size_t dimension, bool is_high);

  std::int64_t n_;
  grid::Problem problem_;
  grid::Candidate cut_;
  grid::Block block_;
  Field r_;
  std::optional<grid::Halo> halo_;
};

/// The problem of a level: what a planner has to know.
[[nodiscard]] grid::Problem problem_of_level(std::int64_t n, std::int64_t grain);
