#include "core/fiber_pool.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;
using Order = std::vector<std::string>;

/// A pool on the only worker of a run, whose one fiber executes the test.
class FiberPoolTest : public testing::Test {
 protected:
  void run(const std::function<void(Worker&, FiberPool&)>& body) {
    std::optional<FiberPool> pool;
    run_.add(0, [&](Worker& worker) {
      pool.emplace(worker, stack_bytes);
      body(worker, *pool);
    });
    run_.run();
  }

  template <class Task>
  static bool begin(Worker& worker, FiberPool& pool, Task& task) {
    return pool.run(
        worker.running(), [](void* argument) { (*static_cast<Task*>(argument))(); }, &task);
  }

  FiberRun run_;
};

TEST_F(FiberPoolTest, ATaskBeginsAtOnceAndItsCallerContinuesWhenItEnds) {
  run([](Worker& worker, FiberPool& pool) {
    Order order;
    auto task = [&] { order.emplace_back("task"); };
    ASSERT_TRUE(begin(worker, pool, task));
    order.emplace_back("caller");
    EXPECT_EQ(order, (Order{"task", "caller"}));
  });
}

TEST_F(FiberPoolTest, TheCallerContinuesAfterOtherReadyFibersAndTheTaskBeforeThem) {
  Order order;
  run_.add(0, [&](Worker& worker) {
    worker.yield();
    order.emplace_back("other");
    worker.yield();
    order.emplace_back("other again");
  });
  run([&](Worker& worker, FiberPool& pool) {
    Fiber* waiting = nullptr;
    auto task = [&] {
      order.emplace_back("begins");
      waiting = &worker.running();
      worker.suspend();
      order.emplace_back("ends");
    };
    ASSERT_TRUE(begin(worker, pool, task));
    order.emplace_back("caller");
    worker.make_ready(*waiting);
    worker.yield();
  });
  EXPECT_EQ(order, (Order{"begins", "other", "caller", "ends", "other again"}));
}

TEST_F(FiberPoolTest, ATaskIsItsOwnerForTheLayersAbove) {
  run([](Worker& worker, FiberPool& pool) {
    int owner = 0;
    Fiber as;
    as.user = &owner;
    struct Seen {
      void* user = nullptr;
      const Fiber* fiber = nullptr;
    } seen;
    auto task = [&] { seen = {.user = Worker::current_user(), .fiber = &worker.running()}; };
    using Task = decltype(task);
    ASSERT_TRUE(pool.run(as, [](void* argument) { (*static_cast<Task*>(argument))(); }, &task));
    EXPECT_EQ(seen.user, &owner);
    EXPECT_NE(seen.fiber, &worker.running());
  });
}

TEST_F(FiberPoolTest, ItKnowsWhoseTasksAreInProgress) {
  run([](Worker& worker, FiberPool& pool) {
    Fiber* waiting = nullptr;
    auto task = [&] {
      waiting = &worker.running();
      worker.suspend();
    };
    Fiber other;
    Fiber& caller = worker.running();
    EXPECT_FALSE(pool.has_task_of(caller));
    ASSERT_TRUE(begin(worker, pool, task));
    EXPECT_TRUE(pool.has_task_of(caller));
    EXPECT_FALSE(pool.has_task_of(other));
    worker.make_ready(*waiting);
    worker.yield();
    EXPECT_FALSE(pool.has_task_of(caller));
  });
}

TEST_F(FiberPoolTest, ErrnoOfATaskIsItsOwn) {
  run([](Worker& worker, FiberPool& pool) {
    // The first stacks are made, by calls that set errno.
    auto nothing = [] {};
    ASSERT_TRUE(begin(worker, pool, nothing));
    errno = 7;
    Fiber* waiting = nullptr;
    int seen = -1;
    auto task = [&] {
      errno = 8;
      waiting = &worker.running();
      worker.suspend();
      seen = errno;
    };
    ASSERT_TRUE(begin(worker, pool, task));
    EXPECT_EQ(errno, 7);
    worker.make_ready(*waiting);
    worker.yield();
    EXPECT_EQ(seen, 8);
    EXPECT_EQ(errno, 7);
  });
}

TEST_F(FiberPoolTest, AFiberIsUsedAgainAndManyTasksMayWaitAtOnce) {
  run([](Worker& worker, FiberPool& pool) {
    std::set<const Fiber*> fibers;
    FiberQueue waiting;
    auto short_task = [&] { fibers.insert(&worker.running()); };
    for (int i = 0; i < 50; ++i)
      ASSERT_TRUE(begin(worker, pool, short_task));
    EXPECT_EQ(fibers.size(), 1U);
    int ended = 0;
    auto long_task = [&] {
      fibers.insert(&worker.running());
      waiting.push(worker.running());
      worker.suspend();
      ++ended;
    };
    for (int i = 0; i < 50; ++i)
      ASSERT_TRUE(begin(worker, pool, long_task));
    EXPECT_EQ(fibers.size(), 50U);
    worker.make_all_ready(waiting);
    worker.yield();
    EXPECT_EQ(ended, 50);
  });
}

TEST_F(FiberPoolTest, FindsTheStackOfEachFiber) {
  run([](Worker& worker, FiberPool& pool) {
    FiberQueue waiting;
    auto task = [&] {
      const int local = 0;
      const auto stack = pool.stack_of(worker.running());
      ASSERT_TRUE(stack);
      const auto location = stack->slab->location_of(&local);
      ASSERT_TRUE(location);
      EXPECT_EQ(location->index, stack->index);
      waiting.push(worker.running());
      worker.suspend();
    };
    // More than one slab of stacks.
    for (int i = 0; i < 20; ++i)
      ASSERT_TRUE(begin(worker, pool, task));
    EXPECT_FALSE(pool.stack_of(worker.running()));
    worker.make_all_ready(waiting);
    worker.yield();
  });
}

}  // namespace
}  // namespace sorrel::core
