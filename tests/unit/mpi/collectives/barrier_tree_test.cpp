#include "mpi/collectives/barrier_tree.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "mpi/comm/group.hpp"
#include "unit/mpi/net/inproc_transport.hpp"

namespace sorrel::mpi {
namespace {

/// A job of processes with one rank each and a given number of processes per node.
class BarrierTrees : public testing::TestWithParam<std::pair<std::uint32_t, std::uint32_t>> {
 protected:
  [[nodiscard]] static std::int32_t count() { return static_cast<std::int32_t>(GetParam().first); }

  [[nodiscard]] bool are_on_one_node(std::int32_t a, std::int32_t b) const {
    return processes_.node_of(a) == processes_.node_of(b);
  }

  /// The root of the tree that contains the process.
  [[nodiscard]] std::int32_t root_of(std::int32_t index) const {
    while (tree_.parent_of(index) >= 0)
      index = tree_.parent_of(index);
    return index;
  }

  test::InprocNetwork network_{GetParam().first, 1, {.processes_per_node = GetParam().second}};
  test::InprocTransport transport_{network_, 0};
  ProcessMap processes_{
      RankLayout({.rank_count = count(), .process_count = GetParam().first, .worker_count = 1}),
      *Group::world(count()), transport_};
  BarrierTree tree_{processes_};
};

INSTANTIATE_TEST_SUITE_P(Shapes,
                         BarrierTrees,
                         testing::Values(std::pair(2U, 0U),
                                         std::pair(4U, 0U),
                                         std::pair(5U, 0U),
                                         std::pair(100U, 0U),
                                         std::pair(2U, 1U),
                                         std::pair(4U, 2U),
                                         std::pair(7U, 2U),
                                         std::pair(30U, 1U),
                                         std::pair(40U, 20U),
                                         std::pair(1000U, 100U)));

TEST_P(BarrierTrees, ParentsAndChildrenAgree) {
  for (std::int32_t index = 0; index < count(); ++index) {
    for (const std::int32_t child : tree_.children_of(index))
      EXPECT_EQ(tree_.parent_of(child), index);
    if (const std::int32_t parent = tree_.parent_of(index); parent >= 0) {
      EXPECT_EQ(std::ranges::count(tree_.children_of(parent), index), 1);
      EXPECT_TRUE(tree_.peers_of(index).empty());
    }
    for (const std::int32_t peer : tree_.peers_of(index))
      EXPECT_EQ(std::ranges::count(tree_.peers_of(peer), index), 1);
  }
}

TEST_P(BarrierTrees, EveryRootIsReached) {
  for (std::int32_t index = 0; index < count(); ++index) {
    std::vector<std::int32_t> roots = tree_.peers_of(root_of(index));
    roots.push_back(root_of(index));
    for (std::int32_t other = 0; other < count(); ++other)
      EXPECT_EQ(std::ranges::count(roots, root_of(other)), 1);
  }
}

TEST_P(BarrierTrees, OnlyNodeLeadersCrossNodes) {
  if (processes_.node_count() == 1) return;
  const auto is_node_leader = [&](std::int32_t index) {
    return index == processes_.node_leader(processes_.node_of(index));
  };
  for (std::int32_t index = 0; index < count(); ++index) {
    std::vector<std::int32_t> partners = tree_.children_of(index);
    std::ranges::copy(tree_.peers_of(index), std::back_inserter(partners));
    for (const std::int32_t other : partners)
      EXPECT_TRUE(are_on_one_node(index, other) ||
                  (is_node_leader(index) && is_node_leader(other)));
  }
}

TEST_P(BarrierTrees, FanOutIsBounded) {
  for (std::int32_t index = 0; index < count(); ++index) {
    EXPECT_LE(tree_.children_of(index).size(), 2U * BarrierTree::fan_out);
    EXPECT_LT(tree_.peers_of(index).size(), std::size_t{BarrierTree::direct_root_count_max});
  }
}

}  // namespace
}  // namespace sorrel::mpi
