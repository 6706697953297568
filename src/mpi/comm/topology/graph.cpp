#include "mpi/comm/topology/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.hpp"

namespace sorrel::mpi {

int GraphTopology::make(const Arguments& arguments,
                        int rank_count_max,
                        Pointer* result,
                        ErrorDetail& detail) {
  const auto [node_count, index, edges] = arguments;
  if (node_count < 0)
    return detail.fail(MPI_ERR_ARG, "nnodes is %d; it must not be negative", node_count);
  if (node_count > rank_count_max)
    return detail.fail(MPI_ERR_TOPOLOGY, "nnodes is %d; the communicator has %d ranks", node_count,
                       rank_count_max);
  int last = 0;
  for (int i = 0; i < node_count; ++i) {
    if (index[i] < last)
      return detail.fail(MPI_ERR_ARG, "index[%d] is %d; it must be at least %d", i, index[i], last);
    last = index[i];
  }
  if (last > 0 && edges == nullptr)
    return detail.fail(MPI_ERR_ARG, "edges is a null pointer; index describes %d edges", last);
  for (int i = 0; i < last; ++i) {
    if (edges[i] < 0 || edges[i] >= node_count)
      return detail.fail(MPI_ERR_ARG, "edges[%d] is %d; it must be in 0..%d", i, edges[i],
                         node_count - 1);
  }
  const std::shared_ptr<GraphTopology> graph(new GraphTopology);
  graph->index_.assign(index, index + node_count);
  graph->edges_.assign(edges, edges + last);
  graph->is_symmetric_ = graph->find_symmetry();
  *result = graph;
  return MPI_SUCCESS;
}

std::span<const int> GraphTopology::neighbors_of(int node) const {
  SORREL_ASSERT(node >= 0 && node < node_count(), "node %d of %d", node, node_count());
  const auto i = static_cast<std::size_t>(node);
  const int begin = node == 0 ? 0 : index_[i - 1];
  return std::span(edges_).subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(index_[i] - begin));
}

bool GraphTopology::find_symmetry() const {
  std::vector<std::pair<int, int>> forward;
  forward.reserve(edges_.size());
  for (int node = 0; node < node_count(); ++node)
    for (const int neighbor : neighbors_of(node))
      forward.emplace_back(node, neighbor);
  std::vector<std::pair<int, int>> backward;
  backward.reserve(forward.size());
  for (const auto& [from, to] : forward)
    backward.emplace_back(to, from);
  std::sort(forward.begin(), forward.end());
  std::sort(backward.begin(), backward.end());
  return forward == backward;
}

Neighborhood GraphTopology::neighborhood_of(int rank) const {
  const std::span<const int> neighbors = neighbors_of(rank);
  const std::vector<int> list(neighbors.begin(), neighbors.end());
  return {.sources = list, .destinations = list, .is_paired = false};
}

}  // namespace sorrel::mpi
