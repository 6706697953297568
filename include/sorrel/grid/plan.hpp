//! Plan - the partition of a grid over ranks with the shortest step, and the reasons.
//!
//! Pure: predicts from a Machine and a Problem; needs no MPI, starts no thread, any thread.
//! Evaluates every process grid with every kind of overlap; 4096 ranks take some milliseconds.
//! Steps are those of a stencil code: exchange ghosts with the neighbours, update every cell. The
//! model and its sources are in src/grid/plan/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sorrel/grid/machine.hpp>
#include <sorrel/grid/problem.hpp>
#include <sorrel/result.hpp>

namespace sorrel::grid {

/// Ranks in each dimension.
using ProcessGrid = PerDimension<int>;

/// How a face is packed into messages.
enum class Pack {
  none,      ///< no neighbour
  direct,    ///< contiguous with its own ghosts: no copy
  rows,      ///< copied run by run
  blocked,   ///< copied in blocks of short runs
  datatype,  ///< a derived datatype of MPI
};

/// @param pack how a face is packed
/// @return "rows", "direct" and so on; static
[[nodiscard]] const char* name_of(Pack pack);

/// How a step overlaps its messages with computation.
struct Overlap {
  /// The order of exchange and update.
  enum class Kind {
    none,         ///< exchange, then update
    faces_first,  ///< update the cells that neighbours need, send, update the rest meanwhile
    tiles,        ///< as faces_first, with the rest in tiles and a poll of the messages after each
  };
  Kind kind = Kind::none;  ///< the order of exchange and update
  int tile_count = 1;      ///< for `tiles`: into how many the rest is divided

  bool operator==(const Overlap&) const = default;
};

/// @param overlap how a step overlaps its messages
/// @return "none", "faces first" or "4 tiles"
[[nodiscard]] std::string name_of(const Overlap& overlap);

/// Seconds of one step on the processor with the most work; the terms add up.
struct Prediction {
  double compute_s = 0;  ///< updating cells
  double pack_s = 0;     ///< copying faces
  double wire_s = 0;     ///< processor time of sending and receiving
  double wait_s = 0;     ///< waiting for messages in flight with no other work

  /// @return the whole step
  [[nodiscard]] double step_s() const { return compute_s + pack_s + wire_s + wait_s; }
};

/// Distance between neighbours on different nodes of a machine whose outermost link is a torus.
struct Hops {
  double mean = 0;  ///< over all such pairs; 0: there is no torus, or no such pair
  int most = 0;     ///< of one pair
};

/// A cut of the grid, and the predicted time of a step.
struct Cut {
  ProcessGrid grid{1, 1, 1};  ///< the number of ranks in each dimension
  /// Consecutive ranks fill bricks of this shape, so that neighbours share a fast link.
  ProcessGrid brick{1, 1, 1};
  PerDimension<Pack> pack{};  ///< of the faces across each dimension
  PerDimension<Hops> hops{};  ///< to the neighbours in each dimension
  Overlap overlap;            ///< of messages and computation
  Prediction time;            ///< of one step

  /// @return the number of ranks that get a block
  [[nodiscard]] int rank_count() const { return grid[0] * grid[1] * grid[2]; }
};

/// The cuts of a grid over ranks, the best one first, with predicted times and reasons.
class Plan {
 public:
  /// The best plan for `rank_count` ranks. If the grid is too small for all of them, uses the
  /// largest number that fits. Errors: those of machine and problem, too many ranks, blocks beyond
  /// the memory limit.
  ///
  /// @param machine measured, or read from a file (machine_file.hpp)
  /// @param problem the grid and the computation on it
  /// @param rank_count from 1 to 1000000
  /// @return the plan, or one line that states the error and what is allowed
  [[nodiscard]] static Result<Plan> choose(const Machine& machine,
                                           const Problem& problem,
                                           int rank_count);

  /// @return the problem that choose() was given
  [[nodiscard]] const Problem& problem() const { return problem_; }

  /// @return the choice
  [[nodiscard]] const Cut& best() const { return cuts_.front(); }

  /// Each process grid without overlap, and with the best of each kind of overlap. The choice is
  /// the fastest, or one that takes at most 2 % longer and would be the fastest if copies took half
  /// as long again.
  ///
  /// @return all cuts, the choice first, then the fastest first
  [[nodiscard]] const std::vector<Cut>& cuts() const { return cuts_; }

  /// @return the number of evaluated cuts: placements and tile counts too
  [[nodiscard]] std::int64_t evaluated_count() const { return evaluated_count_; }

  /// @return the process grid of the choice
  [[nodiscard]] const ProcessGrid& grid() const { return best().grid; }

  /// @return the number of ranks that get a block; higher ranks get none
  [[nodiscard]] int used_ranks() const { return best().rank_count(); }

  /// @return how the choice overlaps messages
  [[nodiscard]] Overlap overlap() const { return best().overlap; }

  /// @param dimension 0 to 2
  /// @return how the choice packs the faces across it
  [[nodiscard]] Pack pack(int dimension) const {
    return best().pack[static_cast<std::size_t>(dimension)];
  }

  /// @return the predicted time of the choice
  [[nodiscard]] const Prediction& time() const { return best().time; }

  /// @param rank below used_ranks()
  /// @return its coordinates in the process grid
  [[nodiscard]] ProcessGrid coords(int rank) const;

  /// @param coords within the process grid
  /// @return the rank there
  [[nodiscard]] int rank(const ProcessGrid& coords) const;

  /// @param rank below used_ranks()
  /// @return its cells
  [[nodiscard]] Box<3> block(int rank) const;

  /// @return five lines: the cut, its time, the faces, the cost of alternatives, overlap
  [[nodiscard]] std::string why() const;

  /// @param row_count most rows
  /// @return the first cuts of different grids, one a line, with the term in which each is worst
  [[nodiscard]] std::string table(int row_count) const;

  /// @return the cut of MPI_Dims_create, with its best pack and no overlap
  [[nodiscard]] const Cut& balanced() const;

 private:
  Problem problem_;
  int rank_count_ = 0;
  std::vector<Cut> cuts_;
  std::int64_t evaluated_count_ = 0;
};

/// @param grid the number of ranks in each dimension
/// @param problem says how many dimensions there are
/// @return "8 x 4 x 1", with as many dimensions as the problem has
[[nodiscard]] std::string name_of(const ProcessGrid& grid, const Problem& problem);

/// Earlier blocks are a cell longer where the extents do not divide.
///
/// @param problem the grid of cells
/// @param grid the number of ranks in each dimension
/// @param coords within that grid
/// @return the cells of the block there
[[nodiscard]] Box<3> block_at(const Problem& problem,
                              const ProcessGrid& grid,
                              const ProcessGrid& coords);

/// @param rank of the process grid
/// @param grid the number of ranks in each dimension
/// @param brick filled by consecutive ranks
/// @return the coordinates of the rank
[[nodiscard]] ProcessGrid coords_of(int rank, const ProcessGrid& grid, const ProcessGrid& brick);

/// @param coords within the process grid
/// @param grid the number of ranks in each dimension
/// @param brick filled by consecutive ranks
/// @return the rank there
[[nodiscard]] int rank_of(const ProcessGrid& coords,
                          const ProcessGrid& grid,
                          const ProcessGrid& brick);

/// The brick that minimises the bytes leaving a group of consecutive ranks.
///
/// @param problem the grid of cells
/// @param grid the number of ranks in each dimension
/// @param group the number of ranks of a group
/// @return the brick; the process grid itself where none fits
[[nodiscard]] ProcessGrid brick_of_least_surface(const Problem& problem,
                                                 const ProcessGrid& grid,
                                                 int group);

/// @param other the predicted time of a cut
/// @param best that of the choice
/// @return the term in which `other` is worst beside `best`: compute, pack, wire or wait; static
[[nodiscard]] const char* losing_term(const Prediction& other, const Prediction& best);

}  // namespace sorrel::grid
