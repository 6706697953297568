#include "omp/tasking/depend.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace sorrel::omp {
namespace {

class Table : public testing::Test {
 protected:
  /// Enters task `index` with the addresses that it writes and reads; returns its predecessors.
  std::vector<int> enter(int index, std::vector<int> out, std::vector<int> in) {
    std::vector<void*> depend{reinterpret_cast<void*>(out.size() + in.size()),
                              reinterpret_cast<void*>(out.size())};
    for (const int address : out)
      depend.push_back(&places_[address]);
    for (const int address : in)
      depend.push_back(&places_[address]);
    std::vector<int> before;
    table_.enter(
        tasks_[index], depend.data(),
        [&](Task& task) { before.push_back(static_cast<int>(&task - tasks_)); },
        [&](Task& task) { task.references.fetch_sub(1); });
    return before;
  }

  int places_[100] = {};
  Task tasks_[100];
  DependTable table_;
};

TEST_F(Table, writers_follow_each_other) {
  EXPECT_EQ(enter(0, {1}, {}), std::vector<int>{});
  EXPECT_EQ(enter(1, {1}, {}), std::vector<int>{0});
  EXPECT_EQ(enter(2, {1}, {}), std::vector<int>{1});
  EXPECT_EQ(enter(3, {2}, {}), std::vector<int>{});
}

TEST_F(Table, readers_follow_the_writer_and_the_next_writer_follows_them_all) {
  EXPECT_EQ(enter(0, {1}, {}), std::vector<int>{});
  EXPECT_EQ(enter(1, {}, {1}), std::vector<int>{0});
  EXPECT_EQ(enter(2, {}, {1}), std::vector<int>{0});
  EXPECT_EQ(enter(3, {1}, {}), (std::vector<int>{1, 2}));
  EXPECT_EQ(enter(4, {}, {1}), std::vector<int>{3});
}

TEST_F(Table, a_task_does_not_follow_itself) {
  EXPECT_EQ(enter(0, {1, 1}, {1}), std::vector<int>{});
  EXPECT_EQ(enter(1, {1}, {1}), std::vector<int>{0});
}

TEST_F(Table, gives_every_reference_back) {
  for (int i = 0; i < 100; ++i)
    (void)enter(i, {i % 7}, {(i * 3) % 50, (i * 5) % 50});
  table_.clear([](Task& task) { task.references.fetch_sub(1); });
  for (const Task& task : tasks_)
    EXPECT_EQ(task.references.load(), 1U);
}

TEST_F(Table, DropsFinishedTasksBeforeItGrows) {
  std::vector<std::uintptr_t> addresses(4096);
  std::vector<Task> tasks(addresses.size());
  std::size_t held = 0;
  const auto drop = [&](Task& task) {
    task.references.fetch_sub(1);
    --held;
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    void* depend[] = {reinterpret_cast<void*>(1), reinterpret_cast<void*>(i % 2), &addresses[i]};
    table_.enter(tasks[i], depend, [](Task&) {}, drop);
    ++held;
    if (i >= 8) tasks[i - 8].has_finished = true;
    EXPECT_LE(held, 64U);
  }
  EXPECT_LE(table_.room(), 64U);
  table_.clear(drop);
  EXPECT_EQ(held, 0U);
}

TEST_F(Table, DropsFinishedReadersOfOneAddress) {
  std::vector<Task> tasks(4096);
  std::size_t held = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    void* depend[] = {reinterpret_cast<void*>(1), nullptr, &held};
    table_.enter(tasks[i], depend, [](Task&) {}, [&](Task&) { --held; });
    ++held;
    if (i >= 8) tasks[i - 8].has_finished = true;
    EXPECT_LE(held, 64U);
  }
  table_.clear([&](Task&) { --held; });
  EXPECT_EQ(held, 0U);
}

TEST_F(Table, AllMemoryFollowsAllTasksAndComesBeforeAllLaterOnes) {
  const auto enter_all = [&](int index) {
    void* depend[] = {reinterpret_cast<void*>(1), reinterpret_cast<void*>(1), nullptr};
    std::vector<int> before;
    table_.enter(
        tasks_[index], depend,
        [&](Task& task) { before.push_back(static_cast<int>(&task - tasks_)); },
        [](Task& task) { task.references.fetch_sub(1); });
    std::ranges::sort(before);
    return before;
  };
  EXPECT_EQ(enter(0, {1}, {}), std::vector<int>{});
  EXPECT_EQ(enter(1, {}, {2}), std::vector<int>{});
  EXPECT_EQ(enter_all(2), (std::vector<int>{0, 1}));
  EXPECT_EQ(enter(3, {}, {1}), std::vector<int>{2});
  EXPECT_EQ(enter(4, {5}, {}), std::vector<int>{2});
  EXPECT_EQ(enter_all(5), (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(enter(6, {5}, {}), std::vector<int>{5});
  table_.clear([](Task& task) { task.references.fetch_sub(1); });
  for (const Task& task : tasks_)
    EXPECT_EQ(task.references.load(), 1U);
}

TEST(Dependences, are_read_in_both_forms) {
  int a = 0;
  int b = 0;
  int c = 0;
  void* object[2] = {&c, reinterpret_cast<void*>(1)};
  const auto number = [](std::uintptr_t value) { return reinterpret_cast<void*>(value); };
  void* plain[] = {number(2), number(1), &a, &b};
  void* mixed[] = {number(0), number(4), number(1), number(1), number(1), &a, &b, &c, object};
  std::vector<std::pair<const void*, bool>> seen;
  const auto take = [&](const Dependence& item) { seen.emplace_back(item.address, item.is_in()); };
  for_each_dependence(plain, take);
  EXPECT_EQ(seen, (std::vector<std::pair<const void*, bool>>{{&a, false}, {&b, true}}));
  seen.clear();
  for_each_dependence(mixed, take);
  EXPECT_EQ(seen, (std::vector<std::pair<const void*, bool>>{
                      {&a, false}, {&b, false}, {&c, true}, {&c, true}}));
}

}  // namespace
}  // namespace sorrel::omp
