#include "loop/team/thread_team.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

#include "base/prng.hpp"
#include "loop/team/protocol.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::loop {
namespace {

/// Teams live as long as their threads, which never end.
ThreadTeam& team_of(std::uint32_t width, std::int64_t spin_ns) {
  static std::vector<std::unique_ptr<ThreadTeam>>& teams =
      *new std::vector<std::unique_ptr<ThreadTeam>>;
  ThreadTeam& team = *teams.emplace_back(std::make_unique<ThreadTeam>(width));
  team.controls().spin_ns.store(spin_ns, std::memory_order_relaxed);
  return team;
}

struct Visits {
  explicit Visits(std::int64_t count) : of(static_cast<std::size_t>(count)) {}

  // Not atomic: only one thread may access an iteration.
  std::vector<int> of;
  // Set before the loop.
  bool keeps_busy = false;

  static int visit(void* argument, std::int64_t begin, std::int64_t end) {
    auto& self = *static_cast<Visits*>(argument);
    for (std::int64_t i = begin; i < end; ++i) {
      ++self.of[static_cast<std::size_t>(i)];
      if (self.keeps_busy) {
        const std::uint64_t began = arch::cycles();
        while (arch::cycles() - began < 20'000) {
        }
      }
    }
    return go_on;
  }
};

Work work_on(Visits& visits, Schedule schedule, std::int64_t grain, std::uint32_t width) {
  return {
      Visits::visit, &visits,
      ChunkPlan({0, static_cast<std::int64_t>(visits.of.size())},
                {.schedule = schedule, .grain = grain, .width = static_cast<std::int32_t>(width)})};
}

TEST(ThreadTeamTest, EveryIterationIsRunOnceBeforeTheLoopReturns) {
  for (const std::int64_t spin_ns : {0LL, 50'000LL}) {
    ThreadTeam& team = team_of(4, spin_ns);
    Prng random(core::test_seed());
    for (int loop = 1; loop <= 3000; ++loop) {
      Visits visits(static_cast<std::int64_t>(2 + random.below(60)));
      visits.keeps_busy = loop % 100 == 0;
      const auto schedule = static_cast<Schedule>(random.below(4));
      const std::uint32_t width = 2 + static_cast<std::uint32_t>(random.below(3));
      const auto grain = static_cast<std::int64_t>(random.below(5));
      EXPECT_EQ(run_loop(team, work_on(visits, schedule, grain, width), width - 1), go_on);
      for (const int count : visits.of)
        ASSERT_EQ(count, 1);
    }
  }
}

TEST(ThreadTeamTest, ALoopThatMustBeSharedRunsOnlyIfAHelperCouldJoin) {
  ThreadTeam& team = team_of(2, 0);
  Visits visits(8);
  Work work = work_on(visits, Schedule::dynamic, 1, 2);
  work.is_shared_only = true;
  EXPECT_EQ(run_loop(team, work, 0), not_shared);
  std::vector<OpenLoop*> others;
  while (OpenLoop* other = team.open(work, 0))
    others.push_back(other);
  EXPECT_EQ(run_loop(team, work, 1), not_shared);
  EXPECT_EQ(visits.of, std::vector<int>(8, 0));
  for (OpenLoop* other : others) {
    other->cancel();
    LoopTable::release(*other);
  }
  EXPECT_EQ(run_loop(team, work, 1), go_on);
  EXPECT_EQ(visits.of, std::vector<int>(8, 1));
}

TEST(ThreadTeamTest, AShortLoopStartsNoThread) {
  // A loop during which the system takes the core away looks long, but not every time.
  bool has_started_none = false;
  for (int attempt = 0; attempt < 50 && !has_started_none; ++attempt) {
    ThreadTeam& team = team_of(4, 0);
    for (int loop = 0; loop < 1000; ++loop) {
      Visits visits(4);
      run_loop(team, work_on(visits, Schedule::automatic, 0, 4), 3);
    }
    has_started_none = team.started_count() == 0;
  }
  EXPECT_TRUE(has_started_none);
}

TEST(ThreadTeamTest, ALongLoopGetsHelpButNeverMoreThreadsThanTheWidth) {
  ThreadTeam& team = team_of(3, 1'000'000);

  struct State {
    std::atomic<int> running{0};
    std::atomic<int> most{0};
  } state;

  const Body body = [](void* argument, std::int64_t, std::int64_t) {
    auto& self = *static_cast<State*>(argument);
    const int running = self.running.fetch_add(1, std::memory_order_relaxed) + 1;
    int most = self.most.load(std::memory_order_relaxed);
    while (most < running &&
           !self.most.compare_exchange_weak(most, running, std::memory_order_relaxed)) {
    }
    const std::uint64_t began = arch::cycles();
    while (arch::cycles() - began < 200'000) {
    }
    self.running.fetch_sub(1, std::memory_order_relaxed);
    return go_on;
  };
  const SplitOptions split{.schedule = Schedule::dynamic, .grain = 1, .width = 3};
  while (state.most.load(std::memory_order_relaxed) < 3)
    run_loop(team, {body, &state, ChunkPlan({0, 60}, split)}, 2);
  EXPECT_EQ(state.most.load(std::memory_order_relaxed), 3);
  EXPECT_EQ(team.started_count(), 2U);
}

TEST(ThreadTeamTest, AHelperWaitsPatientlyForALoopThatIsLikelyToCome) {
  ThreadTeam& team = team_of(2, 0);
  team.controls().patience_ns.store(30'000'000'000, std::memory_order_relaxed);
  while (!team.has_searchers()) {
    Visits visits(200);
    visits.keeps_busy = true;
    run_loop(team, work_on(visits, Schedule::dynamic, 1, 2), 1);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(team.has_searchers());
  team.controls().patience_ns.store(0, std::memory_order_relaxed);
  while (team.has_searchers()) {
    Visits visits(200);
    visits.keeps_busy = true;
    run_loop(team, work_on(visits, Schedule::dynamic, 1, 2), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(ThreadTeamTest, ABodyCancelsItsLoopAndItsResultIsReturned) {
  ThreadTeam& team = team_of(4, 50'000);
  std::atomic<std::int64_t> ran{0};
  const Body body = [](void* argument, std::int64_t begin, std::int64_t) {
    static_cast<std::atomic<std::int64_t>*>(argument)->fetch_add(1, std::memory_order_relaxed);
    // Slow: helpers alone need seconds for the rest, however late the third of them cancels it.
    if (begin > 3) std::this_thread::sleep_for(std::chrono::microseconds(50));
    return begin == 3 ? 77 : go_on;
  };
  const SplitOptions split{.schedule = Schedule::dynamic, .grain = 1, .width = 4};
  EXPECT_EQ(run_loop(team, {body, &ran, ChunkPlan({0, 200'000}, split)}, 3), 77);
  EXPECT_LT(ran.load(std::memory_order_relaxed), 200'000);
  // The next loop in the same slot is not affected.
  Visits visits(100);
  EXPECT_EQ(run_loop(team, work_on(visits, Schedule::automatic, 0, 4), 3), go_on);
}

struct Nest {
  ThreadTeam& team;
  std::vector<Visits> rows;

  static int run_row(void* argument, std::int64_t begin, std::int64_t end) {
    Nest& self = *static_cast<Nest*>(argument);
    for (std::int64_t i = begin; i < end; ++i) {
      Visits& row = self.rows[static_cast<std::size_t>(i)];
      row.keeps_busy = i % 8 == 0;
      run_loop(self.team, work_on(row, Schedule::automatic, 0, 4), 3);
    }
    return go_on;
  }
};

TEST(ThreadTeamTest, LoopsInsideLoopsAndFromSeveralThreadsAtOnceShareTheHelpers) {
  ThreadTeam& team = team_of(4, 20'000);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        Nest nest{team, {}};
        for (int i = 0; i < 20; ++i)
          nest.rows.emplace_back(30);
        const SplitOptions split{.schedule = Schedule::dynamic, .grain = 1, .width = 4};
        run_loop(team, {Nest::run_row, &nest, ChunkPlan({0, 20}, split)}, 3);
        for (const Visits& row : nest.rows) {
          for (const int count : row.of)
            ASSERT_EQ(count, 1);
        }
      }
    });
  }
  for (std::thread& caller : callers)
    caller.join();
  EXPECT_LE(team.started_count(), 3U);
}

TEST(ThreadTeamTest, WhenNoSlotIsFreeALoopRunsAlone) {
  ThreadTeam& team = team_of(2, 0);

  struct Depth {
    ThreadTeam& team;
    int depth;

    static int dive(void* argument, std::int64_t begin, std::int64_t) {
      const Depth& self = *static_cast<Depth*>(argument);
      if (begin != 0 || self.depth == 0) return go_on;
      Depth deeper{self.team, self.depth - 1};
      return run_loop(
          self.team,
          {dive, &deeper, ChunkPlan({0, 2}, {.schedule = Schedule::fixed, .grain = 0, .width = 2})},
          1);
    }
  };

  // Awake helpers, so that every level takes a slot.
  Visits visits(200);
  visits.keeps_busy = true;
  run_loop(team, work_on(visits, Schedule::dynamic, 1, 2), 1);
  team.controls().spin_ns.store(1'000'000'000, std::memory_order_relaxed);
  Depth top{team, 300};
  EXPECT_EQ(Depth::dive(&top, 0, 1), go_on);
}

}  // namespace
}  // namespace sorrel::loop
