// the body of a family takes a Task, or one to four coordinates of type Index, or nothing
#include <string>

#include <sorrel/graph.hpp>

int main() {
  sorrel::Graph g;
  g.family("tile", {4, 4}).body([](const std::string& text) { return text.size(); });
}
