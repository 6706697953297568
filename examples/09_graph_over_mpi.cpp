// A heat equation as a graph over ranks, until it is solved: the sweep says what it reads and
// writes, and the graph derives the order of the tiles and the messages between ranks. The largest
// change of each step is one value for all ranks. Under any MPI.
//
//   sorrel cxx -std=c++20 -O2 09_graph_over_mpi.cpp -lsorrel_graph -o heat && sorrel run -n 6
//   ./heat
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <mpi.h>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

int main(int argc, char** argv) {
  using namespace sorrel::graph;
  constexpr Index n = 60;
  int rank = 0, ranks = 0, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    std::array<int, 2> cut{};
    MPI_Dims_create(ranks, 2, cut.data());
    const Tiling tiling(
        {n, n}, tiling_over(MPI_COMM_WORLD, {.ranks = {cut[0], cut[1], 1}, .tile = {5, n}}));
    Field<double, 2> now(tiling, "now"), next(tiling, "next");
    const auto edges = [](Index i, Index) { return i < 0 ? 100.0 : 0.0; };  // one is hot
    now.fill(edges);
    next.fill(edges);

    sorrel::Graph g(over_mpi(MPI_COMM_WORLD));
    const auto larger = [](double one, double other) { return std::max(one, other); };
    Reduction<double> change(g, "largest change", 0.0, larger);
    g.over(tiling, "heat")
        .reads(now, star(1))
        .writes(next)
        .reduces(change)
        .body([](const sorrel::Box<2>& cells, auto old, auto out, double& largest) {
          for (const auto& [i, j] : cells) {
            out(i, j) = 0.25 * (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1));
            largest = std::max(largest, std::fabs(out(i, j) - old(i, j)));
          }
        });
    g.rotate(now, next);

    // Twenty steps overlap, then all ranks look at the change, which is the same on all of them.
    const Report report = g.run({.steps = 100'000,
                                 .until = [&](Index) { return change.last() < 1e-4; },
                                 .check_every = 20});
    if (rank == 0)
      std::printf("%d ranks, %d steps, %.2f degrees beside the hot edge\n", ranks,
                  static_cast<int>(report.steps), now(0, 0));
    wrong = change.last() >= 1e-4;
  }
  MPI_Finalize();
  return wrong;
}
