//! RankTree - the binary tree over the ranks of a communicator in which long reductions combine
//! them.
//!
//! A node of level k has 2^k consecutive ranks, aligned, or those of them that exist; its left
//! child has the lower half. A node without a right child is the same as its left child, and is
//! named by the higher level. So the tree depends on the number of ranks alone, and any set of
//! ranks is the union of a few nodes. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace sorrel::mpi {

class RankTree {
 public:
  struct Node {
    std::int32_t first;
    std::int32_t level;

    friend bool operator==(const Node&, const Node&) = default;
  };

  explicit RankTree(std::int32_t rank_count) : rank_count_(rank_count) {}

  [[nodiscard]] Node leaf(std::int32_t rank) const { return named({.first = rank, .level = 0}); }

  [[nodiscard]] static bool are_siblings(const Node& left, const Node& right) {
    return is_left(left) && right.first == end_of(left) && right.level == left.level;
  }

  /// The parent of two siblings, given the left one.
  [[nodiscard]] Node parent(const Node& left) const {
    return named({.first = left.first, .level = left.level + 1});
  }

  /// One behind the last rank of a node.
  [[nodiscard]] std::int32_t last(const Node& node) const {
    return end_of(node) < rank_count_ ? static_cast<std::int32_t>(end_of(node)) : rank_count_;
  }

  /// The fewest nodes that have the given ranks, which ascend; in their order.
  [[nodiscard]] std::vector<Node> cover(const std::vector<std::int32_t>& ranks) const;

  /// The fewest nodes that have the ranks of the given ones, which ascend; in their order.
  [[nodiscard]] std::vector<Node> cover_of(const std::vector<Node>& parts) const;

 private:
  [[nodiscard]] static std::int64_t end_of(const Node& node) {
    return node.first + (std::int64_t{1} << node.level);
  }

  [[nodiscard]] static bool is_left(const Node& node) {
    return (node.first >> node.level) % 2 == 0;
  }

  /// The highest level at which a node has the same ranks.
  [[nodiscard]] Node named(Node node) const {
    while (node.first > 0 && is_left(node) && end_of(node) >= rank_count_)
      ++node.level;
    return node;
  }

  std::int32_t rank_count_;
};

}  // namespace sorrel::mpi
