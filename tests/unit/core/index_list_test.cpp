#include "core/index_list.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace sorrel::core {
namespace {

struct List {
  explicit List(std::size_t count) : links(count) {}

  void push(std::uint32_t index) { list.push(index, links[index]); }

  std::vector<std::uint32_t> take_all() {
    std::vector<std::uint32_t> taken;
    list.take_all([this](std::uint32_t index) -> IndexList::Link& { return links[index]; },
                  [&](std::uint32_t index) { taken.push_back(index); });
    return taken;
  }

  IndexList list;
  std::vector<IndexList::Link> links;
};

TEST(IndexListTest, AnEmptyListGivesNothing) {
  List list(1);
  EXPECT_TRUE(list.list.seems_empty());
  EXPECT_TRUE(list.take_all().empty());
}

TEST(IndexListTest, TakingEmptiesIt) {
  List list(3);
  list.push(0);
  list.push(2);
  EXPECT_FALSE(list.list.seems_empty());
  EXPECT_EQ(list.take_all(), (std::vector<std::uint32_t>{2, 0}));
  EXPECT_TRUE(list.list.seems_empty());
}

TEST(IndexListTest, EveryNumberOfEveryThreadIsTakenOnce) {
  constexpr std::uint32_t thread_count = 4;
  constexpr std::uint32_t number_count = 2000;
  List list(thread_count * number_count);
  std::vector<std::jthread> threads;
  for (std::uint32_t thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([thread, &list] {
      for (std::uint32_t i = 0; i < number_count; ++i)
        list.push(thread * number_count + i);
    });
  }
  std::vector<int> taken_count(thread_count * number_count, 0);
  for (std::uint32_t taken = 0; taken < thread_count * number_count;) {
    for (const std::uint32_t index : list.take_all()) {
      ASSERT_EQ(++taken_count[index], 1);
      ++taken;
    }
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace sorrel::core
