// fill() calls value(i, j) with an index for each dimension
#include <sorrel/graph.hpp>

int main() {
  using namespace sorrel::graph;
  const Tiling tiling({8, 8}, {});
  Field<double, 2> heat(tiling, "heat");
  heat.fill([](Index, Index, Index) { return 0.0; });
}
