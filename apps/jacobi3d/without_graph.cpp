// In the place of graph.cpp, for MPIs that have no sorrel beside them.
#include <cstdio>

#include "jacobi.hpp"

namespace jacobi {

Result run_graph(const Case& c, bool) {
  if (c.rank == 0)
    std::fputs("jacobi3d: built without sorrel: base, olap and ideal are there\n", stderr);
  MPI_Abort(c.comm, 2);
  return {};
}

}  // namespace jacobi
