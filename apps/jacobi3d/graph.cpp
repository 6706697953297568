// GRAPH: the accesses of a tile; faces, messages and their order follow.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <sorrel/graph.hpp>
#include <sorrel/graph/over_mpi.hpp>

#include "jacobi.hpp"

namespace jacobi {

using namespace sorrel::graph;

namespace {

Key key_of(const Cells& cells) {
  return {cells[0], cells[1], cells[2]};
}

}  // namespace

Result run_graph(const Case& c, bool is_explained) {
  const Tiling tiling({c.n, c.n, c.n}, tiling_over(c.comm, {.ranks = key_of(c.ranks),
                                                            .tile = key_of(c.tile),
                                                            .has_skin = c.has_skin,
                                                            .skin = key_of(c.skin)}));
  Field<double, 3> u(tiling, "u"), v(tiling, "v");
  const Answer beginning(c, 0), end(c, c.steps);
  for (Field<double, 3>* field : {&u, &v})
    field->fill([&](Index i, Index j, Index k) { return beginning.at(i, j, k); });

  sorrel::Graph g(over_mpi(c.comm));
  g.over(tiling, "relax")
      .reads(u, star(1))
      .writes(v)
      .body([source = c.source()](const sorrel::Box<3>& cells, auto from, auto to) {
        const auto [i, j, k] = cells.lo;
        relax(&to(i, j, k), &from(i, j, k), to.stride(0), to.stride(1),
              {cells.hi[0] - i, cells.hi[1] - j, cells.hi[2] - k}, source);
      });
  g.rotate(u, v);
  if (is_explained && c.rank == 0) std::fputs(g.print().c_str(), stdout);

  // Prepares the run. All ranks have their buffers by now.
  g.run({.steps = 0});
  MPI_Barrier(c.comm);
  Result result;
  result.began = MPI_Wtime();
  result.waiting_seconds = g.run({.steps = c.steps}).waiting_seconds;
  result.ended = MPI_Wtime();
  // A rank that compares must not delay the steps of another one.
  MPI_Barrier(c.comm);
  for (const auto& [i, j, k] : tiling.block())
    result.error = std::max(result.error, std::abs(u(i, j, k) - end.at(i, j, k)));
  return result;
}

}  // namespace jacobi
