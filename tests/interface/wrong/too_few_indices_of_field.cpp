// IndicesOfACell<dimensions, Indices
#include <sorrel/graph.hpp>

int main() {
  using namespace sorrel::graph;
  const Tiling tiling({8, 8, 8}, {});
  Field<double, 3> heat(tiling, "heat");
  heat(1, 2) = 0;
}
