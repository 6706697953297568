// The wavefront as a sorrel::Graph.
#include <optional>

#include <sorrel/graph.hpp>

#include "wavefront.hpp"

int main(int argc, char** argv) {
  const Wavefront wave = wavefront_of(argc, argv);
  std::optional<sorrel::Graph> graph;
  time_wavefront(
      wave,
      [&] {
        graph.emplace();
        auto tile = graph->family("tile", {wave.rows, wave.columns}).body([] {});
        tile.after(tile, sorrel::graph::offset(-1, 0)).after(tile, sorrel::graph::offset(0, -1));
      },
      [&] { graph->run(); });
}
