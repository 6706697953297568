// deleted
#include <sorrel/graph.hpp>

int main() {
  const sorrel::graph::Field<double, 2> u(sorrel::graph::Tiling({8, 8}, {}), "u");
}
