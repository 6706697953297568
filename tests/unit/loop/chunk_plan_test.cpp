#include "loop/split/chunk_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>

#include "base/prng.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::loop {
namespace {

constexpr Schedule all_schedules[] = {Schedule::automatic, Schedule::fixed, Schedule::dynamic,
                                      Schedule::guided};

void expect_every_iteration_once(Iterations iterations, const SplitOptions& options) {
  const ChunkPlan plan(iterations, options);
  std::int64_t next = iterations.begin;
  for (std::int32_t i = 0; i < plan.count(); ++i) {
    const Iterations chunk = plan.chunk(i);
    ASSERT_EQ(chunk.begin, next) << "chunk " << i;
    ASSERT_GT(chunk.count(), 0) << "chunk " << i;
    next = chunk.end;
  }
  ASSERT_EQ(next, std::max(iterations.begin, iterations.end));
  ASSERT_LE(plan.count(), ChunkPlan::chunk_count_max);
}

TEST(ChunkPlanTest, ChunksCoverEveryIterationOnceInOrder) {
  Prng random(core::test_seed());
  for (int round = 0; round < 3000; ++round) {
    const auto begin = static_cast<std::int64_t>(random.below(2000)) - 1000;
    const auto length = static_cast<std::int64_t>(random.below(1ULL << random.below(17)));
    for (const Schedule schedule : all_schedules) {
      const SplitOptions options{
          .schedule = schedule,
          .grain = static_cast<std::int64_t>(random.below(random.below(4) * 40 + 1)),
          .width = 1 + static_cast<std::int32_t>(random.below(70)),
          .tuned_grain = static_cast<std::int64_t>(random.below(random.below(4) * 40 + 1))};
      SCOPED_TRACE(testing::Message()
                   << begin << "+" << length << " schedule " << static_cast<int>(schedule)
                   << " grain " << options.grain << " width " << options.width);
      expect_every_iteration_once({begin, begin + length}, options);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ChunkPlanTest, NothingToDoIsNoChunk) {
  for (const Schedule schedule : all_schedules) {
    EXPECT_EQ(ChunkPlan({5, 5}, {.schedule = schedule}).count(), 0);
    EXPECT_EQ(ChunkPlan({5, -5}, {.schedule = schedule}).count(), 0);
  }
}

TEST(ChunkPlanTest, AGrainThatWouldNeedTooManyChunksIsRaised) {
  const std::int64_t length = std::numeric_limits<std::int64_t>::max() / 4;
  for (const Schedule schedule : all_schedules)
    expect_every_iteration_once({-7, length}, {.schedule = schedule, .grain = 1, .width = 1000});
}

TEST(ChunkPlanTest, DynamicChunksHaveTheirGrain) {
  const ChunkPlan plan({0, 103}, {.schedule = Schedule::dynamic, .grain = 10, .width = 4});
  ASSERT_EQ(plan.count(), 11);
  for (std::int32_t i = 0; i < 10; ++i)
    EXPECT_EQ(plan.chunk(i).count(), 10);
  EXPECT_EQ(plan.chunk(10), (Iterations{100, 103}));
  EXPECT_FALSE(plan.may_be_cut());
}

TEST(ChunkPlanTest, StaticChunksAreOnePerThreadAndNearlyEqual) {
  const ChunkPlan plan({0, 10}, {.schedule = Schedule::fixed, .grain = 0, .width = 4});
  ASSERT_EQ(plan.count(), 4);
  EXPECT_EQ(plan.chunk(0), (Iterations{0, 3}));
  EXPECT_EQ(plan.chunk(1), (Iterations{3, 6}));
  EXPECT_EQ(plan.chunk(2), (Iterations{6, 8}));
  EXPECT_EQ(plan.chunk(3), (Iterations{8, 10}));
}

TEST(ChunkPlanTest, AutomaticChunksAreLargeAtBothEndsAndSmallAtTheCallersEqualShare) {
  const ChunkPlan plan({0, 1600}, {.schedule = Schedule::automatic, .grain = 0, .width = 2});
  EXPECT_EQ(plan.chunk(0), (Iterations{0, 400}));
  EXPECT_EQ(plan.chunk(plan.count() - 1), (Iterations{1200, 1600}));
  std::int64_t smallest = 1600;
  std::int64_t smallest_begin = 0;
  for (std::int32_t i = 0; i < plan.count(); ++i) {
    if (plan.chunk(i).count() >= smallest) continue;
    smallest = plan.chunk(i).count();
    smallest_begin = plan.chunk(i).begin;
  }
  EXPECT_EQ(smallest, 25);
  EXPECT_NEAR(static_cast<double>(smallest_begin), 800, 200);
}

TEST(ChunkPlanTest, NoAutomaticChunkButTheLastOfAnEndIsSmallerThanWhatIsWorthTaking) {
  const ChunkPlan plan({0, 1600},
                       {.schedule = Schedule::automatic, .width = 2, .tuned_grain = 150});
  std::int32_t small_count = 0;
  for (std::int32_t i = 0; i < plan.count(); ++i)
    small_count += plan.chunk(i).count() < 150 ? 1 : 0;
  EXPECT_LE(small_count, 2);
  const ChunkPlan fine({0, 1600}, {.schedule = Schedule::automatic, .width = 2, .tuned_grain = 1});
  EXPECT_GT(fine.count(), 2 * plan.count());
}

TEST(ChunkPlanTest, AThirdOfAnEqualShareIsAlwaysWorthTaking) {
  const ChunkPlan plan({0, 60}, {.schedule = Schedule::automatic, .width = 2, .tuned_grain = 1000});
  const ChunkPlan third({0, 60}, {.schedule = Schedule::automatic, .width = 2, .tuned_grain = 10});
  EXPECT_EQ(plan.count(), third.count());
  EXPECT_GE(plan.count(), 4);
}

TEST(ChunkPlanTest, AloneThereIsOneChunk) {
  EXPECT_EQ(ChunkPlan({0, 1000}, {.schedule = Schedule::automatic}).count(), 1);
  EXPECT_EQ(ChunkPlan({0, 1000}, {.schedule = Schedule::guided}).count(), 1);
  EXPECT_EQ(ChunkPlan({0, 1000}, {.schedule = Schedule::fixed}).count(), 1);
}

}  // namespace
}  // namespace sorrel::loop
