// The wavefront as a flow graph of oneTBB: a node for each task.
#include <memory>
#include <optional>
#include <tbb/flow_graph.h>
#include <vector>

#include "wavefront.hpp"

int main(int argc, char** argv) {
  using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  const Wavefront wave = wavefront_of(argc, argv);
  tbb::flow::graph graph;
  std::vector<std::unique_ptr<Node>> nodes;
  time_wavefront(
      wave,
      [&] {
        nodes.reserve(static_cast<std::size_t>(wave.rows * wave.columns));
        const auto at = [&](long i, long j) -> Node& {
          return *nodes[static_cast<std::size_t>(i * wave.columns + j)];
        };
        for (long i = 0; i < wave.rows; ++i) {
          for (long j = 0; j < wave.columns; ++j) {
            nodes.push_back(std::make_unique<Node>(graph, [](const tbb::flow::continue_msg&) {}));
            if (i > 0) tbb::flow::make_edge(at(i - 1, j), at(i, j));
            if (j > 0) tbb::flow::make_edge(at(i, j - 1), at(i, j));
          }
        }
      },
      [&] {
        nodes[0]->try_put({});
        graph.wait_for_all();
      });
}
