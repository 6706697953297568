// SUMMA: the product C = A B of square matrices on a grid of ranks, in four variants:
//
//   base    broadcasts that block, then the local product      plain MPI
//   olap    the next panels travel during the local product    plain MPI, by hand
//   ideal   as base, without any message: wrong values, the reference for the others
//   graph   a sorrel::Graph of panels, their messages and local products
//
// Each rank has one block of each matrix. A panel is a range of the inner dimension that lies
// within one block of A and of B. Its owners send columns of A along their row of the grid, and
// rows of B along their column. A is stored by columns and B by rows, so a panel is contiguous and
// nothing is packed. Owners use their own panels without a copy; the other ranks receive into the
// buffer that they multiply. The local product is one dgemm of OpenBLAS in all variants.
#pragma once

#include <algorithm>
#include <array>
#include <mpi.h>
#include <vector>

namespace summa {

struct Range {
  long lo = 0, hi = 0;

  long length() const { return hi - lo; }
};

/// Part `index` of 0 .. n cut into `count` parts, which differ by one at most.
Range part_of(long n, long count, long index);

/// A range of the inner dimension, with its owners.
struct Panel {
  Range inner;
  int number = 0;  ///< among all panels
  int column = 0;  ///< of the grid: owns A's part
  int row = 0;     ///< of the grid: owns B's part
};

struct Case {
  long n = 0;
  long panel = 0;                ///< width of the widest panel
  int a_ahead = 0, b_ahead = 0;  ///< panels in flight while one is multiplied
  long tile = 0;                 ///< graph: rows of C in a task; 0: all of the rank's
  int rank = 0;                  ///< in the grid
  int rows = 0, columns = 0;     ///< of the grid
  int row = 0, column = 0;       ///< of this rank
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Comm along_row = MPI_COMM_NULL;     ///< the ranks in this rank's row, by column
  MPI_Comm along_column = MPI_COMM_NULL;  ///< the ranks in its column, by row

  int rank_at(int of_row, int of_column) const { return of_row * columns + of_column; }
};

std::vector<Panel> panels_of(const Case& c);

/// A rank's blocks.
class Blocks {
 public:
  explicit Blocks(const Case& c);

  /// The rank's own panel of A or B, or null.
  double* own_a(const Panel& panel);
  double* own_b(const Panel& panel);

  /// Number of values of a panel on this rank.
  long a_count(const Panel& panel) const { return rows_.length() * panel.inner.length(); }

  long b_count(const Panel& panel) const { return columns_.length() * panel.inner.length(); }

  long a_count_max() const { return rows_.length() * panel_max_; }

  long b_count_max() const { return columns_.length() * panel_max_; }

  const Range& rows() const { return rows_; }

  /// C += A's panel times B's, for a number of rows of C from the block's `first` on.
  void multiply(const double* a, const double* b, const Panel& panel, long first, long count);

  void multiply(const double* a, const double* b, const Panel& panel) {
    multiply(a, b, panel, 0, rows_.length());
  }

  /// The largest difference to a product computed by one rank in a plain loop, as a share of the
  /// bound of rounding errors: right up to 1. Checks every `every`-th row.
  double error(long every) const;

 private:
  const long n_, panel_max_;
  const int row_, column_;
  const Range rows_, columns_;      // of C, and the rows of A, the columns of B
  const Range a_columns_, b_rows_;  // of the inner dimension
  std::vector<double> a_, b_, c_;
};

struct Result {
  double seconds = 0;
  double waiting_seconds = 0;  ///< graph: for messages, without any task
};

Result run_base(const Case& c, Blocks& blocks, bool has_messages);
Result run_olap(const Case& c, Blocks& blocks);
Result run_graph(const Case& c, Blocks& blocks, bool is_explained);

}  // namespace summa
