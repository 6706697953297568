// In the place of graph.cpp, for MPIs that have no sorrel beside them.
#include <cstdio>

#include "summa.hpp"

namespace summa {

Result run_graph(const Case& c, Blocks&, bool) {
  if (c.rank == 0)
    std::fputs("summa: built without sorrel: base, olap and ideal are there\n", stderr);
  MPI_Abort(c.grid, 2);
  return {};
}

}  // namespace summa
