// Replaces graph.cpp for MPIs without Sorrel.
#include <cstdio>

#include "summa.hpp"

namespace summa {

Result run_graph(const Case& c, Blocks&, bool) {
  if (c.rank == 0)
    std::fputs("summa: built without sorrel: only base, olap and ideal are supported\n", stderr);
  MPI_Abort(c.grid, 2);
  return {};
}

}  // namespace summa
