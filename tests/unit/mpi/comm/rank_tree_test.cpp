#include "mpi/comm/rank_tree.hpp"

#include <bit>
#include <gtest/gtest.h>
#include <numeric>

namespace sorrel::mpi {
namespace {

using Node = RankTree::Node;

std::vector<std::int32_t> ranks_between(std::int32_t first, std::int32_t last) {
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(last - first));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

TEST(RankTreeTest, SiblingsMakeUpTheirParent) {
  const RankTree tree(6);
  EXPECT_TRUE(RankTree::are_siblings(tree.leaf(2), tree.leaf(3)));
  EXPECT_FALSE(RankTree::are_siblings(tree.leaf(1), tree.leaf(2)));
  EXPECT_FALSE(RankTree::are_siblings(tree.leaf(3), tree.leaf(2)));
  // 4 and 5 have no neighbours on their right: their node is a sibling of that of the first four.
  EXPECT_EQ(tree.parent(tree.leaf(4)), (Node{.first = 4, .level = 2}));
  EXPECT_TRUE(RankTree::are_siblings({.first = 0, .level = 2}, tree.parent(tree.leaf(4))));
}

TEST(RankTreeTest, AllRanksAreOneNode) {
  for (std::int32_t count = 1; count <= 70; ++count) {
    const RankTree tree(count);
    const std::vector<Node> cover = tree.cover(ranks_between(0, count));
    ASSERT_EQ(cover.size(), 1U) << count;
    EXPECT_EQ(cover[0].first, 0);
    EXPECT_EQ(tree.last(cover[0]), count);
  }
}

TEST(RankTreeTest, ConsecutiveRanksAreFewNodesInOrder) {
  for (std::int32_t count = 1; count <= 40; ++count) {
    const RankTree tree(count);
    for (std::int32_t first = 0; first < count; ++first) {
      for (std::int32_t last = first + 1; last <= count; ++last) {
        const std::vector<Node> cover = tree.cover(ranks_between(first, last));
        std::int32_t next = first;
        for (const Node& node : cover) {
          ASSERT_EQ(node.first, next);
          next = tree.last(node);
        }
        ASSERT_EQ(next, last);
        ASSERT_LE(cover.size(),
                  2U * static_cast<unsigned>(std::bit_width(static_cast<unsigned>(last - first))));
      }
    }
  }
}

TEST(RankTreeTest, AlternatingRanksAreNodesOfTheirOwn) {
  for (std::int32_t count = 2; count <= 40; ++count) {
    const RankTree tree(count);
    std::vector<std::int32_t> even, odd;
    for (std::int32_t rank = 0; rank < count; ++rank)
      (rank % 2 == 0 ? even : odd).push_back(rank);
    // No two of the even ranks are siblings.
    EXPECT_EQ(tree.cover(even).size(), even.size());
    EXPECT_EQ(tree.cover(odd).size(), odd.size());
  }
}

}  // namespace
}  // namespace sorrel::mpi
