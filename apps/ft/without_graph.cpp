// In the place of graph.cpp, for MPIs that have no sorrel beside them.
#include <cstdio>

#include "ft.hpp"

namespace ft {

Result run_graph(const Case& c, Transform&, bool) {
  if (c.rank == 0) std::fputs("ft: built without sorrel: base, olap and ideal are there\n", stderr);
  MPI_Abort(c.comm, 2);
  return {};
}

}  // namespace ft
