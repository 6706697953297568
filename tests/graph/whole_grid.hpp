//! WholeGrid - all cells of a grid in one rank, with which the tests compare what many ranks have.
#pragma once

#include <cstdint>
#include <cstdio>
#include <mpi.h>
#include <vector>

#include <sorrel/graph.hpp>

using Value = std::uint64_t;

/// Its ends are neighbours, or have the initial values outside.
class WholeGrid {
 public:
  using Index = sorrel::graph::Index;
  using Key = sorrel::graph::Key;

  WholeGrid(const sorrel::graph::Space& cells, bool is_periodic, Value (*start_value)(const Key&))
      : cells_(cells),
        is_periodic_(is_periodic),
        start_value_(start_value),
        values_(static_cast<std::size_t>(cells.count())) {
    for (const Key& cell : cells.box())
      (*this)[cell] = start_value(cell);
  }

  Value operator()(Index i, Index j, Index k, Index l = 0) const {
    Key cell{i, j, k, l};
    bool is_outside = false;
    for (std::size_t d = 0; d < cell.size(); ++d) {
      const Index extent = cells_.extents()[d];
      is_outside = is_outside || cell[d] < 0 || cell[d] >= extent;
      cell[d] = (cell[d] + extent) % extent;
    }
    return is_outside && !is_periodic_ ? start_value_({i, j, k, l}) : values_[place(cell)];
  }

  Value& operator[](const Key& cell) { return values_[place(cell)]; }

 private:
  [[nodiscard]] std::size_t place(const Key& cell) const {
    return static_cast<std::size_t>(cells_.index_of(cell));
  }

  sorrel::graph::Space cells_;
  bool is_periodic_;
  Value (*start_value_)(const Key&);
  std::vector<Value> values_;
};

/// Collective. Prints the number of wrong cells of all ranks; returns the exit status.
inline int report_wrong(int wrong) {
  int rank = 0;
  int all_wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d wrong\n", all_wrong);
  return all_wrong == 0 ? 0 : 1;
}
