// no match
#include <sorrel/graph.hpp>

int main() {
  using namespace sorrel::graph;
  const Tiling tiling({8, 8}, {});
  const Field<double, 3> heat(tiling, "heat");
}
