// deleted
#include <sorrel/graph.hpp>

int main() {
  sorrel::Graph g;
  static_cast<void>(g.over(sorrel::graph::Tiling({8, 8}, {})));
}
