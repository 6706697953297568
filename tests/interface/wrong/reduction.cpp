// a reduction combines two values, T combine(const T&, const T&)
#include <sorrel/graph.hpp>

int main() {
  sorrel::Graph g;
  const sorrel::graph::Reduction<double> sum(g, "sum", 0.0, [](double one) { return one; });
}
