// the values of a Field are trivially copyable, since ghosts travel as bytes
#include <string>

#include <sorrel/graph.hpp>

int main() {
  const sorrel::graph::Tiling tiling({8, 8}, {});
  const sorrel::graph::Field<std::string, 2> names(tiling, "names");
}
