// no match
#include <sorrel/graph.hpp>

int main() {
  using namespace sorrel::graph;
  const Tiling plane({8, 8}, {});
  const Tiling space({8, 8, 8}, {});
  Field<double, 3> heat(space, "heat");
  sorrel::Graph g;
  g.over(plane, "heat").reads(heat);
}
