#include "core/seeded_order.hpp"

#include <array>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

/// The order of runs: five fibers that yield, sleep and yield again.
std::vector<int> trace_of(std::uint64_t seed) {
  FiberRun run(SchedulerOptions{.worker_count = 1, .limits = {}, .cpus = {}, .seed = seed});
  std::vector<int> trace;
  for (int i = 0; i < 5; ++i) {
    run.add(0, [&trace, i](Worker& worker) {
      for (int step = 0; step < 4; ++step) {
        trace.push_back(i);
        worker.yield();
      }
      worker.sleep(1'000'000 * (i % 2));
      trace.push_back(i);
    });
  }
  run.run();
  return trace;
}

TEST(SeededOrderTest, TheSameSeedGivesTheSameTraceAndOthersGiveOthers) {
  std::set<std::vector<int>> traces;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(trace_of(seed), trace_of(seed)) << "seed " << seed;
    traces.insert(trace_of(seed));
  }
  EXPECT_GE(traces.size(), 19U);
}

TEST(SeededOrderTest, WhoSleepsWakesInTheOrderOfTimeAndNobodyWaitsForIt) {
  FiberRun run(SchedulerOptions{.worker_count = 1, .limits = {}, .cpus = {}, .seed = 3});
  std::vector<int> woken;
  const std::int64_t began_ns = os::monotonic_ns();
  for (int i = 0; i < 4; ++i) {
    run.add(0, [&woken, i](Worker& worker) {
      const std::int64_t slept_at_ns = worker.now_ns();
      worker.sleep((4 - i) * 3'600'000'000'000);
      EXPECT_GE(worker.now_ns() - slept_at_ns, (4 - i) * 3'600'000'000'000);
      woken.push_back(i);
    });
  }
  run.run();
  EXPECT_EQ(woken, (std::vector<int>{3, 2, 1, 0}));
  EXPECT_LT(os::monotonic_ns() - began_ns, 3'600'000'000'000) << "hours pass at once";
}

TEST(SeededOrderTest, WhoPollsTheClockGetsOn) {
  FiberRun run(SchedulerOptions{.worker_count = 1, .limits = {}, .cpus = {}, .seed = 3});
  bool is_over = false;
  run.add(0, [&](Worker& worker) {
    worker.sleep(1'000'000);
    is_over = true;
  });
  run.add(0, [&](Worker& worker) {
    while (!is_over)
      worker.yield();
  });
  run.run();
  EXPECT_TRUE(is_over);
}

TEST(SeededOrderTest, EveryReadyFiberIsAsLikely) {
  std::array<Fiber, 4> fibers;
  SeededOrder order(11);
  std::array<int, 4> counts{};
  FiberQueue queue;
  for (Fiber& fiber : fibers)
    queue.push(fiber);
  for (int i = 0; i < 4000; ++i) {
    order.choose(queue);
    Fiber* chosen = queue.pop();
    ++counts[static_cast<std::size_t>(chosen - fibers.data())];
    queue.push(*chosen);
  }
  for (const int count : counts)
    EXPECT_NEAR(count, 1000, 150);
}

}  // namespace
}  // namespace sorrel::core
