#include "core/worker_nodes.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "unit/core/four_nodes.hpp"

namespace sorrel::core {
namespace {

using Numbers = std::vector<int>;
using WorkerOrder = std::vector<std::uint32_t>;

WorkerOrder order_of(const WorkerNodes& nodes, std::uint32_t worker, std::uint32_t count) {
  WorkerOrder order;
  for (std::uint32_t i = 1; i < count; ++i)
    order.push_back(nodes.other(worker, i, count));
  return order;
}

TEST(WorkerNodes, WithoutSeveralNodesTheNextWorkersComeFirst) {
  const WorkerNodes nodes({}, Numbers{0, 1, 2, 3});
  EXPECT_FALSE(nodes.are_known());
  EXPECT_EQ(nodes.node_of(2), -1);
  EXPECT_EQ(order_of(nodes, 2, 4), (WorkerOrder{3, 0, 1}));
}

TEST(WorkerNodes, WorkersThatAreNotPlacedHaveNoNode) {
  const WorkerNodes nodes(four_nodes(), {});
  EXPECT_FALSE(nodes.are_known());
  EXPECT_EQ(order_of(nodes, 0, 3), (WorkerOrder{1, 2}));
}

TEST(WorkerNodes, NearerWorkersComeFirst) {
  const WorkerNodes nodes(four_nodes(), Numbers{0, 1, 2, 3, 4, 5, 6, 7});
  ASSERT_TRUE(nodes.are_known());
  EXPECT_EQ(nodes.node_of(5), 2);
  EXPECT_EQ(order_of(nodes, 0, 8), (WorkerOrder{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(order_of(nodes, 3, 8), (WorkerOrder{2, 0, 1, 4, 5, 6, 7}));
  EXPECT_EQ(order_of(nodes, 5, 8), (WorkerOrder{4, 6, 7, 0, 1, 2, 3}));
}

TEST(WorkerNodes, EachOtherWorkerComesOnceWhateverTheCpus) {
  const Numbers cpus = {7, 0, 3, 4, 1, 6, 2, 5, 99};
  const WorkerNodes nodes(four_nodes(), cpus);
  const auto count = static_cast<std::uint32_t>(cpus.size());
  for (std::uint32_t worker = 0; worker < count; ++worker) {
    WorkerOrder order = order_of(nodes, worker, count);
    order.push_back(worker);
    std::ranges::sort(order);
    WorkerOrder all(count);
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(order, all) << worker;
  }
}

TEST(WorkerNodes, AWorkerOnNoNodeIsTheFarthest) {
  const WorkerNodes nodes(four_nodes(), Numbers{0, 99, 7});
  EXPECT_EQ(order_of(nodes, 0, 3), (WorkerOrder{2, 1}));
  EXPECT_EQ(order_of(nodes, 1, 3), (WorkerOrder{2, 0}));
}

TEST(WorkerNodes, WorkersOfOneNodeAreKnownAndEquallyNear) {
  const WorkerNodes nodes(four_nodes(), Numbers{2, 3});
  EXPECT_TRUE(nodes.are_known());
  EXPECT_EQ(nodes.node_of(0), 1);
  EXPECT_EQ(order_of(nodes, 1, 2), (WorkerOrder{0}));
}

}  // namespace
}  // namespace sorrel::core
