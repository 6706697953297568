// the body of parallel_for over a Blocked takes a tile of as many dimensions
#include <sorrel/parallel.hpp>

int main() {
  const sorrel::Blocked<2> blocked({{0, 0}, {8, 8}}, {4, 4});
  sorrel::parallel_for(blocked, [](const sorrel::Box<3>& tile) { return tile.count(); });
}
