// the body of a sweep takes the cells, a sorrel::Box of as many dimensions, then a View for each
#include <sorrel/graph.hpp>

int main() {
  using namespace sorrel::graph;
  const Tiling tiling({8, 8}, {});
  Field<double, 2> now(tiling, "now"), next(tiling, "next");
  sorrel::Graph g;
  g.over(tiling, "heat").reads(now).writes(next).body([](const sorrel::Box<2>&, auto) {});
}
