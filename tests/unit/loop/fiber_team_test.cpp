#include "loop/team/fiber_team.hpp"

#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "arch/cpu.hpp"
#include "loop/team/loop.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::loop {
namespace {

using core::FiberRun;
using core::Worker;

void stay_busy(std::uint64_t cycles) {
  const std::uint64_t began = arch::cycles();
  while (arch::cycles() - began < cycles) {
  }
}

struct Sum {
  std::vector<std::int64_t> values;
  std::atomic<std::uint64_t> workers_seen{0};

  static int add(void* argument, std::int64_t begin, std::int64_t end) {
    auto& self = *static_cast<Sum*>(argument);
    for (std::int64_t i = begin; i < end; ++i) {
      self.values[static_cast<std::size_t>(i)] += i;
      stay_busy(5'000);
    }
    self.workers_seen.fetch_or(1ULL << Worker::current()->index(), std::memory_order_relaxed);
    return go_on;
  }
};

void expect_each_once(const Sum& sum) {
  for (std::size_t i = 0; i < sum.values.size(); ++i)
    ASSERT_EQ(sum.values[i], static_cast<std::int64_t>(i));
}

TEST(FiberTeamTest, IdleWorkersJoinTheLoopOfAnother) {
  FiberRun run(3);
  std::uint64_t workers_seen = 0;
  run.add(1, [&](Worker&) {
    // Workers may be late for one loop, not for all of them.
    for (int loop = 0; loop < 100'000 && workers_seen != 7; ++loop) {
      Sum sum;
      sum.values.resize(300);
      EXPECT_EQ(sorrel::loop::run({0, 300}, Sum::add, &sum, {}), go_on);
      expect_each_once(sum);
      workers_seen |= sum.workers_seen.load(std::memory_order_relaxed);
    }
  });
  run.run();
  EXPECT_EQ(workers_seen, 7U);
}

TEST(FiberTeamTest, LoopsOfManyFibersShareTheWorkers) {
  for (const std::int64_t spin_ns : {0LL, 50'000LL}) {
    FiberRun run(2, {.spin_ns_max = spin_ns});
    for (std::uint32_t i = 0; i < 12; ++i) {
      run.add(i % 2, [&](Worker& worker) {
        for (int loop = 0; loop < 40; ++loop) {
          Sum sum;
          sum.values.resize(40);
          sorrel::loop::run({0, 40}, Sum::add, &sum, {});
          expect_each_once(sum);
          if (loop % 4 == 0) worker.yield();
        }
      });
    }
    run.run();
  }
}

// Two fibers of one worker take turns: each has a limit of its own, which it keeps.
TEST(FiberTeamTest, ALimitIsThatOfOneFiber) {
  FiberRun run(3);
  for (const std::uint32_t limit : {1U, 2U}) {
    run.add(0, [limit](Worker& worker) {
      EXPECT_EQ(limit_threads(limit), 0U);
      for (int turn = 0; turn < 50; ++turn) {
        worker.yield();
        EXPECT_EQ(width_now(), limit);
        Sum sum;
        sum.values.resize(20);
        sorrel::loop::run({0, 20}, Sum::add, &sum, {.threads_max = 3});
        expect_each_once(sum);
        if (limit == 1) {
          EXPECT_EQ(sum.workers_seen.load(std::memory_order_relaxed), 1U);
        }
      }
      EXPECT_EQ(limit_threads(0), limit);
      EXPECT_EQ(width_now(), 3U);
    });
  }
  run.run();
}

TEST(FiberTeamTest, AHelperIsNoRank) {
  FiberRun run(2);
  std::atomic<int> wrong_count{0};

  struct Context {
    core::Fiber* caller;
    std::atomic<int>* wrong_count;
    std::atomic<bool> was_helped{false};
  };

  run.add(0, [&](Worker& worker) {
    worker.running().user = &wrong_count;
    Context context{&worker.running(), &wrong_count};
    while (!context.was_helped.load(std::memory_order_relaxed)) {
      const Body body = [](void* argument, std::int64_t, std::int64_t) {
        auto& self = *static_cast<Context*>(argument);
        core::Fiber& running = Worker::current()->running();
        if (&running != self.caller) {
          self.was_helped.store(true, std::memory_order_relaxed);
          if (running.user != nullptr) self.wrong_count->fetch_add(1, std::memory_order_relaxed);
        }
        stay_busy(50'000);
        return go_on;
      };
      sorrel::loop::run({0, 64}, body, &context, {.schedule = Schedule::dynamic});
    }
  });
  run.run();
  EXPECT_EQ(wrong_count.load(std::memory_order_relaxed), 0);
}

TEST(FiberTeamTest, AFiberThatWaitsForTheEndOfItsLoopLetsOthersRun) {
  // Worker 1 is inside the last chunk for as long as the other fiber of worker 0 has not run.
  FiberRun run(2);

  struct Context {
    std::atomic<bool> helper_is_inside{false};
    std::atomic<bool> other_has_run{false};
  } context;

  std::atomic<bool> is_over{false};
  run.add(0, [&](Worker&) {
    while (!context.helper_is_inside.load(std::memory_order_acquire)) {
      const Body body = [](void* argument, std::int64_t, std::int64_t) {
        auto& self = *static_cast<Context*>(argument);
        if (Worker::current()->index() == 1) {
          self.helper_is_inside.store(true, std::memory_order_release);
          while (!self.other_has_run.load(std::memory_order_acquire)) {
          }
        } else {
          stay_busy(100'000);
        }
        return go_on;
      };
      sorrel::loop::run({0, 8}, body, &context, {.schedule = Schedule::dynamic});
    }
    is_over.store(true, std::memory_order_relaxed);
  });
  run.add(0, [&](Worker&) {
    EXPECT_FALSE(is_over.load(std::memory_order_relaxed));
    context.other_has_run.store(true, std::memory_order_release);
  });
  run.run();
  EXPECT_TRUE(is_over.load(std::memory_order_relaxed));
}

TEST(FiberTeamTest, NestedLoopsEndThoughHelpersWaitForLoopsOfTheirOwn) {
  FiberRun run(3);

  struct Outer {
    std::vector<Sum> rows{std::vector<Sum>(24)};

    static int run_rows(void* argument, std::int64_t begin, std::int64_t end) {
      auto& self = *static_cast<Outer*>(argument);
      for (std::int64_t i = begin; i < end; ++i)
        sorrel::loop::run({0, 30}, Sum::add, &self.rows[static_cast<std::size_t>(i)], {});
      return go_on;
    }
  };

  for (std::uint32_t i = 0; i < 4; ++i) {
    run.add(i % 3, [&](Worker&) {
      Outer outer;
      for (Sum& row : outer.rows)
        row.values.resize(30);
      sorrel::loop::run({0, 24}, Outer::run_rows, &outer, {.schedule = Schedule::dynamic});
      for (const Sum& row : outer.rows)
        expect_each_once(row);
    });
  }
  run.run();
}

TEST(FiberTeamTest, WorkersThatSleepAreWokenForALongLoop) {
  FiberRun run(2, {.spin_ns_max = 0});
  std::uint64_t workers_seen = 0;
  run.add(0, [&](Worker& worker) {
    for (int loop = 0; loop < 1000 && workers_seen != 3; ++loop) {
      worker.sleep(1'000'000);
      Sum sum;
      sum.values.resize(2000);
      sorrel::loop::run({0, 2000}, Sum::add, &sum, {});
      workers_seen |= sum.workers_seen.load(std::memory_order_relaxed);
    }
  });
  run.run();
  EXPECT_EQ(workers_seen, 3U);
}

}  // namespace
}  // namespace sorrel::loop
