// The edit distance of two texts: a table in tiles, each after its neighbours above and to the
// left. The graph keeps the order; idle threads run the tiles that are ready.
//
//   at=~/.local    # where Sorrel was installed: cmake --install build/release --prefix ~/.local
//   places="-I$at/include -L$at/lib -Wl,-rpath,$at/lib"
//   c++ -std=c++20 -O2 06_task_graph.cpp $places -lsorrel_graph -lsorrel -o distance && ./distance
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <sorrel/graph.hpp>

using sorrel::graph::Index;
using sorrel::graph::offset;

// Letters that look random, the same everywhere.
static std::string letters(std::size_t count, unsigned state) {
  std::string text;
  for (std::size_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    text += static_cast<char>('a' + (state >> 24) % 4);
  }
  return text;
}

int main() {
  const Index length = 3000, side = 100, tiles = length / side;
  const std::string one = letters(length, 1), other = letters(length, 2);
  std::vector<std::vector<int>> distance(length + 1, std::vector<int>(length + 1));
  for (Index i = 0; i <= length; i++)
    distance[i][0] = distance[0][i] = static_cast<int>(i);

  sorrel::Graph g;
  auto tile = g.family("tile", {tiles, tiles}).body([&](Index row, Index column) {
    for (Index i = row * side + 1; i <= (row + 1) * side; i++)
      for (Index j = column * side + 1; j <= (column + 1) * side; j++)
        distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1,
                                   distance[i - 1][j - 1] + (one[i - 1] != other[j - 1])});
  });
  tile.after(tile, offset(-1, 0)).after(tile, offset(0, -1));
  g.run();

  std::printf("distance %d\n", distance[length][length]);
}
