// A stencil on a lattice of four dimensions, over any grid of ranks, compared with a loop over the
// whole lattice.
//
// lattice PX PY PZ PT STEPS [periodic] [box]
//
// box: a box stencil, so that faces, edges and corners are exchanged.
#include <cstdlib>
#include <mpi.h>
#include <string>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

#include "whole_grid.hpp"

using namespace sorrel::graph;

namespace {

constexpr Key extents{5, 6, 4, 7};

/// Each cell has a value of its own.
Value start_value(const Key& cell) {
  Value value = 0;
  for (const Index coordinate : cell)
    value = value * 1000003 + static_cast<Value>(coordinate + 2);
  return value;
}

WholeGrid whole_grid(bool is_periodic) {
  return {Space(extents, 4), is_periodic, start_value};
}

/// Each neighbour has a weight of its own.
template <class From>
Value stencil(const From& from, const Key& cell, bool is_box) {
  const auto [i, j, k, l] = cell;
  Value sum = 0;
  Value weight = 1;
  for (const auto& [a, b, c, d] : sorrel::Box<4>{{-1, -1, -1, -1}, {2, 2, 2, 2}}) {
    weight += 2;
    const int across = (a != 0) + (b != 0) + (c != 0) + (d != 0);
    if (is_box || across <= 1) sum += weight * from(i + a, j + b, k + c, l + d);
  }
  return sum;
}

struct Options {
  Key ranks{};
  Index steps = 0;
  bool is_periodic = false;
  bool is_box = false;
};

/// Number of wrong cells of this rank.
int count_wrong(const Options& options) {
  const bool is_periodic = options.is_periodic;
  const bool is_box = options.is_box;
  const Tiling<4> tiling(
      extents, tiling_over(MPI_COMM_WORLD,
                           {.ranks = options.ranks,
                            .is_periodic = {is_periodic, is_periodic, is_periodic, is_periodic},
                            .tile = {2, 3, 0, 4}}));
  Field<Value, 4> now(tiling, "now");
  Field<Value, 4> next(tiling, "next");
  const WholeGrid first = whole_grid(is_periodic);
  now.fill(first);
  next.fill(first);
  {
    sorrel::Graph graph(over_mpi(MPI_COMM_WORLD));
    graph.over(tiling, "lattice")
        .reads(now, is_box ? box(1) : star(1))
        .writes(next)
        .body([=](const sorrel::Box<4>& cells, auto from, auto to) {
          for (const auto& [i, j, k, l] : cells)
            to(i, j, k, l) = stencil(from, {i, j, k, l}, is_box);
        });
    graph.rotate(now, next);
    graph.run({.steps = options.steps});
  }
  WholeGrid right = whole_grid(is_periodic);
  for (Index step = 0; step < options.steps; ++step) {
    WholeGrid result = whole_grid(is_periodic);
    for (const Key& cell : sorrel::Box<4>{{}, extents})
      result[cell] = stencil(right, cell, is_box);
    right = result;
  }
  int wrong = 0;
  for (const auto& [i, j, k, l] : tiling.block())
    wrong += now(i, j, k, l) != right(i, j, k, l) ? 1 : 0;
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 6) return 2;
  Options options;
  for (std::size_t d = 0; d < options.ranks.size(); ++d)
    options.ranks[d] = std::atol(argv[1 + d]);
  options.steps = std::atol(argv[5]);
  for (int i = 6; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "periodic") options.is_periodic = true;
    if (word == "box") options.is_box = true;
  }
  const int wrong = count_wrong(options);
  const int status = report_wrong(wrong);
  MPI_Finalize();
  return status;
}
