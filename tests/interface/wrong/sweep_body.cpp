// the body of a sweep takes the cells, a KeyBox, then a View for each reads() and writes()
#include <sorrel/graph.hpp>

int main() {
  using namespace sorrel::graph;
  const Tiling tiling({8, 8}, {});
  Field<double> now(tiling, "now"), next(tiling, "next");
  sorrel::Graph g;
  g.over(tiling, "heat").reads(now).writes(next).run([](const KeyBox&, auto) {});
}
