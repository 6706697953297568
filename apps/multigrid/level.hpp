//! Level - one grid of the hierarchy: its blocks, their ghosts, and the operations on the cells.
//!
//! Double-precision complex cells, values at their centres, u = 0 on the cube's surface: a ghost
//! outside of it is minus the cell inside. The operator is (6 u - its six neighbours) / h^2.
#pragma once

#include <array>
#include <complex>
#include <memory>
#include <mpi.h>
#include <optional>
#include <vector>

#include <sorrel/graph/graph.hpp>
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

/// How the ghosts of a smoother's sweep are exchanged.
enum class Exchange {
  before,  ///< before the sweep
  graph,   ///< while a task graph updates the cells that need none
};

class Level {
 public:
  /// The level of a cube of n^3 cells; blocks begin at multiples of `grain` cells. Collective.
  Level(MPI_Comm comm, std::int64_t n, std::int64_t grain, const grid::Cut& cut);
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  /// From here on. Collective.
  void exchange_by(Exchange exchange);

  Field u;
  Field f;

  [[nodiscard]] std::int64_t n() const { return n_; }

  [[nodiscard]] double h() const { return 1.0 / static_cast<double>(n_); }

  [[nodiscard]] const grid::Problem& problem() const { return problem_; }

  [[nodiscard]] const grid::Cut& cut() const { return cut_; }

  [[nodiscard]] const sorrel::Box<3>& block() const { return block_; }

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
    each_cell(whole(), visit);
  }

  /// each_cell() for a part of them.
  template <class Visit>
  static void each_cell(const sorrel::Box<3>& cells, Visit&& visit) {
    for (const std::int64_t x : cells[0])
      for (const std::int64_t y : cells[1])
        for (const std::int64_t z : cells[2])
          visit(x, y, z);
  }

 private:
  void fill_ghosts();
  void reflect_all();
  void reflect(std::size_t dimension, bool is_high);
  [[nodiscard]] double residual_within(const sorrel::Box<3>& cells);
  void relax_within(const sorrel::Box<3>& cells);

  [[nodiscard]] sorrel::Box<3> whole() const {
    return sorrel::Box<3>::at({1, 1, 1}, block_.extents());
  }

  void make_sweep(sorrel::Graph& graph);

  std::int64_t n_;
  grid::Problem problem_;
  MPI_Comm comm_;
  grid::Cut cut_;
  sorrel::Box<3> block_;
  Field r_;
  std::optional<grid::Halo> halo_;
  /// A sweep as a graph's step, and what its tasks update.
  std::vector<sorrel::Box<3>> inner_;
  std::vector<sorrel::Box<3>> skin_;
  std::unique_ptr<sorrel::Graph> sweep_;
};

/// The problem of a level, as a planner needs it.
[[nodiscard]] grid::Problem problem_of_level(std::int64_t n, std::int64_t grain);
