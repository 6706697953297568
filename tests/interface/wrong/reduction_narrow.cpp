// a reduction combines two values, T combine(const T&, const T&)
#include <sorrel/graph.hpp>

int main() {
  sorrel::Graph g;
  const sorrel::graph::Reduction<int> sum(g, "sum", 0,
                                          [](int one, int other) { return one + 0.5 * other; });
}
