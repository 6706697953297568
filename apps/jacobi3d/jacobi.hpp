// Poisson's equation in a cube with given values on its surface, by Jacobi's iteration, in these
// variants:
//
//   base    blocking messages, then the sweep            plain MPI
//   olap    messages while the interior is swept         plain MPI, by hand
//   ideal   as base, with its communication switched off: wrong values
//   bare    as ideal, without the copies into and out of messages: sweeps alone
//   graph   a sorrel::Graph with the accesses of each tile
//
// All variants share one numerical kernel. The answer is known after every number of steps. The
// equation's solution is a polynomial for which differences are exact. The iteration begins with an
// error that is its slowest mode, which each step multiplies by cos(pi h).
#pragma once

#include <array>
#include <mpi.h>
#include <vector>

namespace jacobi {

using Cells = std::array<long, 3>;

struct Case {
  long n = 0;  ///< cells in each dimension, without the surface
  int steps = 0;
  Cells ranks{};
  Cells tile{};  ///< of the graph; 0: as the block
  Cells skin{};  ///< of the graph; 0: the graph chooses
  bool has_skin = true;
  int rank = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  std::array<std::array<int, 2>, 3> neighbours{};  ///< by dimension and end, or MPI_PROC_NULL
  Cells lo{}, hi{};                                ///< of this rank's block

  /// h * h / 6 times the equation's right side.
  double source() const;
};

/// The values of the cells after a number of steps, the surface included.
class Answer {
 public:
  Answer(const Case& c, int after_steps);

  double at(long i, long j, long k) const;

 private:
  long n_;
  double amplitude_ = 0;
  std::vector<double> sines_;
};

constexpr double flops_per_cell = 7;

/// One sweep over a box: `to` and `from` are its first cell, rows are contiguous.
void relax(
    double* to, const double* from, long plane, long row, const Cells& extents, double source);

/// A block with its ghosts.
class Array {
 public:
  explicit Array(const Case& c);

  double* at(long i, long j, long k) { return &values_[place(i, j, k)]; }

  const double* at(long i, long j, long k) const { return &values_[place(i, j, k)]; }

  long plane() const { return plane_; }

  long row() const { return row_; }

  void fill(const Case& c);

  void swap(Array& other) { values_.swap(other.values_); }

 private:
  std::size_t place(long i, long j, long k) const {
    return static_cast<std::size_t>((i - lo_[0] + 1) * plane_ + (j - lo_[1] + 1) * row_ + k -
                                    lo_[2] + 1);
  }

  Cells lo_;
  long plane_, row_;
  std::vector<double> values_;
};

struct Result {
  /// By MPI_Wtime(): the end of the first barrier, and the end of this rank's steps. Several ranks
  /// may share a core and leave a barrier one after the other. So the elapsed time is from the
  /// first rank to begin to the last rank to end.
  double began = 0, ended = 0;
  double error = 0;            ///< largest difference to the known answer, on this rank
  double waiting_seconds = 0;  ///< graph: for messages, without any task
};

/// Without messages, faces can still be copied into the message buffers and back.
Result run_plain(const Case& c, bool has_messages, bool has_overlap, bool has_copies);
Result run_graph(const Case& c, bool is_explained);

}  // namespace jacobi
