// a condition takes what a body takes, and returns bool
#include <sorrel/graph.hpp>

int main() {
  sorrel::Graph g;
  g.task("load", [] {}).only_if([] {});
}
