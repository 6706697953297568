// A three-dimensional stencil by declared accesses, over any grid of ranks, compared with a loop
// over the whole grid. Two sweeps in each step: the result of one rotates, that of the other stays.
//
// stencil PX PY PZ STEPS [periodic] [box] [plain]
//
// box: a box stencil, so that edges and corners are exchanged, too. plain: the tiling does not
// state which ranks are near.
#include <array>
#include <cstdlib>
#include <mpi.h>
#include <string>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

#include "whole_grid.hpp"

using namespace sorrel::graph;

namespace {

constexpr Key extents{13, 11, 24};

Value start_value(const Key& cell) {
  return static_cast<Value>((cell[0] + 1) * 1000003 + (cell[1] + 1) * 10007 + (cell[2] + 1) * 101);
}

WholeGrid whole_grid(bool is_periodic) {
  return {{extents[0], extents[1], extents[2]}, is_periodic, start_value};
}

template <class U>
Value around(const U& u, Index i, Index j, Index k) {
  return u(i, j, k) + 2 * u(i - 1, j, k) + 3 * u(i + 1, j, k) + 5 * u(i, j - 1, k) +
         7 * u(i, j + 1, k) + 11 * u(i, j, k - 1) + 13 * u(i, j, k + 1);
}

template <class U>
Value all_around(const U& u, Index i, Index j, Index k) {
  Value sum = 0;
  Value weight = 1;
  for (Index x = i - 1; x <= i + 1; ++x)
    for (Index y = j - 1; y <= j + 1; ++y)
      for (Index z = k - 1; z <= k + 1; ++z)
        sum += (weight += 2) * u(x, y, z);
  return sum;
}

template <class Visit>
void for_cells(const sorrel::Box<3>& cells, Visit&& visit) {
  for (Index i = cells.lo[0]; i < cells.hi[0]; ++i)
    for (Index j = cells.lo[1]; j < cells.hi[1]; ++j)
      for (Index k = cells.lo[2]; k < cells.hi[2]; ++k)
        visit(i, j, k);
}

template <class Stencil>
WholeGrid by_loop(Index steps, bool is_periodic, Stencil stencil) {
  WholeGrid u = whole_grid(is_periodic);
  for (Index s = 0; s < steps; ++s) {
    WholeGrid v = whole_grid(is_periodic);
    WholeGrid w = whole_grid(is_periodic);
    const sorrel::Box<3> all{{}, {extents[0], extents[1], extents[2]}};
    for_cells(all, [&](Index i, Index j, Index k) { w[{i, j, k}] = stencil(u, i, j, k); });
    for_cells(all, [&](Index i, Index j, Index k) { v[{i, j, k}] = stencil(w, i, j, k); });
    u = v;
  }
  return u;
}

struct Options {
  Key ranks{};
  Index steps = 0;
  bool is_periodic = false;
  bool says_who_is_near = true;
};

/// Number of wrong cells of this rank.
template <class Stencil>
int count_wrong(const Options& options, const Footprint& footprint, Stencil stencil) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_periodic = options.is_periodic;
  const TilingOptions said{.ranks = options.ranks,
                           .rank = rank,
                           .is_periodic = {is_periodic, is_periodic, is_periodic},
                           .tile = {3, 4, 8},
                           .skin = {1, 0, 2}};
  const Tiling tiling({extents[0], extents[1], extents[2]},
                      options.says_who_is_near ? tiling_over(MPI_COMM_WORLD, said) : said);
  Field<Value, 3> u(tiling, "u");
  Field<Value, 3> v(tiling, "v");
  Field<Value, 3> w(tiling, "w");
  const WholeGrid first = whole_grid(is_periodic);
  for (Field<Value, 3>* field : {&u, &v, &w})
    field->fill(first);
  {
    sorrel::Graph g(over_mpi(MPI_COMM_WORLD));
    const auto smooth = [=](const sorrel::Box<3>& cells, auto from, auto to) {
      for_cells(cells, [&](Index i, Index j, Index k) { to(i, j, k) = stencil(from, i, j, k); });
    };
    g.over(tiling, "there").reads(u, footprint).writes(w).body(smooth);
    g.over(tiling, "on").reads(w, footprint).writes(v).body(smooth);
    g.rotate(u, v);
    // An odd number first, so that the fields have rotated when the graph runs again.
    const Index part = options.steps / 2 | 1;
    g.run({.steps = part});
    g.run({.steps = options.steps - part});
  }
  const WholeGrid right = by_loop(options.steps, is_periodic, stencil);
  int wrong = 0;
  for_cells(tiling.block(), [&](Index i, Index j, Index k) {
    if (u(i, j, k) != right(i, j, k)) ++wrong;
  });
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 5) return 2;
  Options options{{std::atol(argv[1]), std::atol(argv[2]), std::atol(argv[3])}, std::atol(argv[4])};
  bool is_box = false;
  for (int i = 5; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "periodic") options.is_periodic = true;
    if (word == "box") is_box = true;
    if (word == "plain") options.says_who_is_near = false;
  }
  const auto along = [](const auto& u, Index i, Index j, Index k) { return around(u, i, j, k); };
  const auto all = [](const auto& u, Index i, Index j, Index k) { return all_around(u, i, j, k); };
  const int wrong =
      is_box ? count_wrong(options, box(1), all) : count_wrong(options, star(1), along);
  const int status = report_wrong(wrong);
  MPI_Finalize();
  return status;
}
