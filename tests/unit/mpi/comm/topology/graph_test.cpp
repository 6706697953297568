#include "mpi/comm/topology/graph.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace sorrel::mpi {
namespace {

using Ints = std::vector<int>;

int make(const Ints& index, const Ints& edges, GraphTopology::Pointer* graph, int ranks = 100) {
  ErrorDetail detail;
  return GraphTopology::make(
      {.node_count = static_cast<int>(index.size()), .index = index.data(), .edges = edges.data()},
      ranks, graph, detail);
}

GraphTopology::Pointer graph(const Ints& index, const Ints& edges) {
  GraphTopology::Pointer made;
  EXPECT_EQ(make(index, edges, &made), MPI_SUCCESS);
  return made;
}

TEST(GraphTopology, GivesTheEdgesOfEachNodeInTheirOrder) {
  const auto made = graph({2, 3, 4, 6}, {1, 3, 0, 3, 0, 2});
  EXPECT_EQ(made->node_count(), 4);
  EXPECT_EQ(made->edge_count(), 6);
  const auto of = [&](int node) {
    return Ints(made->neighbors_of(node).begin(), made->neighbors_of(node).end());
  };
  EXPECT_EQ(of(0), (Ints{1, 3}));
  EXPECT_EQ(of(1), Ints{0});
  EXPECT_EQ(of(3), (Ints{0, 2}));
  EXPECT_EQ(made->neighborhood_of(3).sources, (Ints{0, 2}));
  EXPECT_EQ(made->neighborhood_of(3).destinations, (Ints{0, 2}));
}

TEST(GraphTopology, IsSymmetricIfAsManyEdgesLeadBackAsForth) {
  EXPECT_TRUE(graph({}, {})->is_symmetric());
  EXPECT_TRUE(graph({2, 3, 4, 6}, {1, 3, 0, 3, 0, 2})->is_symmetric());
  EXPECT_TRUE(graph({1}, {0})->is_symmetric());
  EXPECT_TRUE(graph({2, 4}, {1, 1, 0, 0})->is_symmetric());
  EXPECT_FALSE(graph({1, 1}, {1})->is_symmetric());
  EXPECT_FALSE(graph({2, 3}, {1, 1, 0})->is_symmetric());
}

TEST(GraphTopology, RefusesWhatIsNoGraphOfTheRanks) {
  GraphTopology::Pointer made;
  EXPECT_EQ(make({1, 0}, {0}, &made), MPI_ERR_ARG);
  EXPECT_EQ(make({-1}, {0}, &made), MPI_ERR_ARG);
  EXPECT_EQ(make({1}, {1}, &made), MPI_ERR_ARG);
  EXPECT_EQ(make({1}, {-1}, &made), MPI_ERR_ARG);
  EXPECT_EQ(make({1, 2}, {0, 0}, &made, 1), MPI_ERR_TOPOLOGY);
}

}  // namespace
}  // namespace sorrel::mpi
