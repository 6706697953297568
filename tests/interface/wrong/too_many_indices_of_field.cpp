// IndicesOfACell<dimensions, Indices
#include <sorrel/graph.hpp>

int main() {
  using namespace sorrel::graph;
  const Tiling tiling({8, 8}, {});
  const Field<double, 2> heat(tiling, "heat");
  return heat(1, 2, 0) == 0;
}
