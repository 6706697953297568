#include "mpi/comm/rank_tree.hpp"

namespace sorrel::mpi {

std::vector<RankTree::Node> RankTree::cover(const std::vector<std::int32_t>& ranks) const {
  std::vector<Node> nodes;
  for (const std::int32_t rank : ranks) {
    Node node = leaf(rank);
    while (!nodes.empty() && are_siblings(nodes.back(), node)) {
      node = parent(nodes.back());
      nodes.pop_back();
    }
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace sorrel::mpi
