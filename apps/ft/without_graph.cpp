// Replaces graph.cpp for MPIs without Sorrel.
#include <cstdio>

#include "ft.hpp"

namespace ft {

Result run_graph(const Case& c, Transform&, bool) {
  if (c.rank == 0)
    std::fputs("ft: built without sorrel: only base, olap and ideal are supported\n", stderr);
  MPI_Abort(c.comm, 2);
  return {};
}

}  // namespace ft
