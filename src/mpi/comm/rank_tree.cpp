#include "mpi/comm/rank_tree.hpp"

namespace sorrel::mpi {

std::vector<RankTree::Node> RankTree::cover(const std::vector<std::int32_t>& ranks) const {
  std::vector<Node> leaves;
  for (const std::int32_t rank : ranks)
    leaves.push_back(leaf(rank));
  return cover_of(leaves);
}

std::vector<RankTree::Node> RankTree::cover_of(const std::vector<Node>& parts) const {
  std::vector<Node> nodes;
  for (Node node : parts) {
    while (!nodes.empty() && are_siblings(nodes.back(), node)) {
      node = parent(nodes.back());
      nodes.pop_back();
    }
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace sorrel::mpi
