#include "core/take_all_list.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace sorrel::core {
namespace {

struct Node {
  int value = 0;
  Node* next = nullptr;
};

using List = BasicTakeAllList<StdSync, Node>;

TEST(TakeAllListTest, AnEmptyListGivesNothing) {
  List list;
  EXPECT_TRUE(list.seems_empty());
  EXPECT_EQ(list.take_all(), nullptr);
}

TEST(TakeAllListTest, TakingEmptiesIt) {
  List list;
  Node nodes[2];
  list.push(nodes[0]);
  list.push(nodes[1]);
  EXPECT_FALSE(list.seems_empty());
  EXPECT_EQ(list.take_all(), &nodes[1]);
  EXPECT_EQ(nodes[1].next, &nodes[0]);
  EXPECT_EQ(nodes[0].next, nullptr);
  EXPECT_TRUE(list.seems_empty());
}

TEST(TakeAllListTest, EveryNodeOfEveryThreadIsTakenOnce) {
  constexpr int thread_count = 4;
  constexpr int node_count = 2000;
  List list;
  std::vector<std::vector<Node>> nodes(thread_count, std::vector<Node>(node_count));
  std::vector<std::jthread> threads;
  for (auto& own : nodes) {
    threads.emplace_back([&own, &list] {
      for (Node& node : own) {
        node.value = 1;
        list.push(node);
      }
    });
  }
  for (int taken = 0; taken < thread_count * node_count;) {
    for (Node* node = list.take_all(); node != nullptr; node = node->next) {
      ASSERT_EQ(node->value, 1);
      node->value = 2;
      ++taken;
    }
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace sorrel::core
