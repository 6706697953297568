#include <array>
#include <gtest/gtest.h>
#include <vector>

#include "core/fiber.hpp"

namespace sorrel::core {
namespace {

class FiberQueueTest : public testing::Test {
 protected:
  std::vector<std::size_t> pop_all(FiberQueue& queue) {
    std::vector<std::size_t> indices;
    while (Fiber* fiber = queue.pop())
      indices.push_back(static_cast<std::size_t>(fiber - fibers_.data()));
    return indices;
  }

  std::array<Fiber, 6> fibers_;
};

TEST_F(FiberQueueTest, FirstInIsFirstOut) {
  FiberQueue queue;
  for (const std::size_t i : {2U, 0U, 1U})
    queue.push(fibers_[i]);
  EXPECT_EQ(pop_all(queue), (std::vector<std::size_t>{2, 0, 1}));
}

TEST_F(FiberQueueTest, APushAtTheFrontIsFirstOut) {
  FiberQueue queue;
  queue.push_first(fibers_[4]);
  queue.push(fibers_[0]);
  queue.push_first(fibers_[5]);
  EXPECT_EQ(pop_all(queue), (std::vector<std::size_t>{5, 4, 0}));
}

TEST_F(FiberQueueTest, AnEmptyQueueGivesNothing) {
  FiberQueue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), nullptr);
}

TEST_F(FiberQueueTest, IsUsableAgainOnceEmptied) {
  FiberQueue queue;
  queue.push(fibers_[0]);
  queue.pop();
  EXPECT_TRUE(queue.empty());
  queue.push(fibers_[3]);
  EXPECT_EQ(pop_all(queue), (std::vector<std::size_t>{3}));
}

TEST_F(FiberQueueTest, AppendingTakesOverAllInOrder) {
  FiberQueue queue;
  FiberQueue other;
  for (std::size_t i = 0; i < 3; ++i)
    queue.push(fibers_[i]);
  for (std::size_t i = 3; i < 6; ++i)
    other.push(fibers_[i]);
  queue.append(other);
  EXPECT_TRUE(other.empty());
  EXPECT_EQ(pop_all(queue), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
}

TEST_F(FiberQueueTest, AppendsToAndFromEmptyQueues) {
  FiberQueue queue;
  FiberQueue other;
  queue.append(other);
  EXPECT_TRUE(queue.empty());
  other.push(fibers_[1]);
  queue.append(other);
  queue.push(fibers_[2]);
  queue.append(other);
  EXPECT_EQ(pop_all(queue), (std::vector<std::size_t>{1, 2}));
}

TEST_F(FiberQueueTest, PrependingPutsAllFirstInOrder) {
  FiberQueue queue;
  FiberQueue other;
  other.push(fibers_[1]);
  other.push(fibers_[2]);
  queue.prepend(other);
  EXPECT_TRUE(other.empty());
  queue.push(fibers_[3]);
  other.push(fibers_[4]);
  other.push(fibers_[0]);
  queue.prepend(other);
  queue.push(fibers_[5]);
  EXPECT_EQ(pop_all(queue), (std::vector<std::size_t>{4, 0, 1, 2, 3, 5}));
}

TEST_F(FiberQueueTest, AnAppendedQueueStaysUsable) {
  FiberQueue queue;
  FiberQueue other;
  other.push(fibers_[0]);
  queue.append(other);
  other.push(fibers_[1]);
  EXPECT_EQ(pop_all(other), (std::vector<std::size_t>{1}));
  EXPECT_EQ(pop_all(queue), (std::vector<std::size_t>{0}));
}

}  // namespace
}  // namespace sorrel::core
