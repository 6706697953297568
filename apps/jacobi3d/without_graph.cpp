// Replaces graph.cpp for MPIs without Sorrel.
#include <cstdio>

#include "jacobi.hpp"

namespace jacobi {

Result run_graph(const Case& c, bool) {
  if (c.rank == 0)
    std::fputs("jacobi3d: built without sorrel: only base, olap and ideal are supported\n", stderr);
  MPI_Abort(c.comm, 2);
  return {};
}

}  // namespace jacobi
