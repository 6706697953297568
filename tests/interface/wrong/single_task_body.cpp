// the body of a task takes a Task, or nothing
#include <string>

#include <sorrel/graph.hpp>

int main() {
  sorrel::Graph g;
  g.task("load", [](const std::string& text) { return text.size(); });
}
