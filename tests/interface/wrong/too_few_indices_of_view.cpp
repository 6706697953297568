// IndicesOfACell<dimensions, Indices
#include <sorrel/graph.hpp>

int main() {
  using namespace sorrel::graph;
  const Tiling tiling({8, 8, 8}, {});
  Field<double, 3> now(tiling, "now"), next(tiling, "next");
  sorrel::Graph g;
  g.over(tiling, "heat")
      .reads(now)
      .writes(next)
      .body([](const sorrel::Box<3>&, auto from, auto to) { to(1, 2) = from(1, 2); });
}
