// A chain of tasks, each of which follows the previous one.
#include <sorrel/graph.hpp>

int main() {
  long sum = 0;
  sorrel::Graph g;
  auto link = g.family("link", {100}).body([&](long i) { sum = (sum * 3 + i) % 1000003; });
  link.after(link, sorrel::graph::offset(-1));
  g.run();
  long expected = 0;
  for (long i = 0; i < 100; ++i)
    expected = (expected * 3 + i) % 1000003;
  return sum == expected ? 0 : 1;
}
