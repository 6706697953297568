#include "governor/demand.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace sorrel::governor {
namespace {

constexpr std::int64_t ms_ns = 1'000'000;

/// A process of four threads, sampled every 20 ms.
struct Process {
  Demand demand{4, 0};
  std::int64_t now_ns = 0;

  std::uint32_t run_ms(std::int64_t run, std::int64_t delay, bool has_loops) {
    now_ns += 20 * ms_ns;
    return demand.update(now_ns, {.elapsed_ns = 20 * ms_ns,
                                  .run_ns = run * ms_ns,
                                  .delay_ns = delay * ms_ns,
                                  .has_loops = has_loops});
  }

  std::uint32_t run_ms_ten_times(std::int64_t run, std::int64_t delay, bool has_loops) {
    std::uint32_t last = 0;
    for (int i = 0; i < 10; ++i)
      last = run_ms(run, delay, has_loops);
    return last;
  }
};

TEST(DemandTest, FollowsLoopsWorkAndWaiting) {
  Process process;
  EXPECT_EQ(process.run_ms_ten_times(10, 0, true), 4U);
  EXPECT_EQ(process.run_ms_ten_times(20, 0, false), 1U) << "it works in one thread";
  EXPECT_EQ(process.run_ms_ten_times(0, 0, false), 0U) << "it waits";
  EXPECT_EQ(process.run_ms(0, 0, true), 4U) << "it grows at once";
}

TEST(DemandTest, FallsOnlyWhenNothingMoreWasSeenForAWhile) {
  Process process;
  process.run_ms(20, 0, true);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(process.run_ms(20, 0, false), 4U);
  process.run_ms(20, 0, true);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(process.run_ms(0, 0, false), 4U);
  EXPECT_EQ(process.run_ms(0, 0, false), 0U);
}

TEST(DemandTest, AProcessWithoutACoreKeepsItsDemand) {
  Process process;
  process.run_ms(20, 0, true);
  EXPECT_EQ(process.run_ms_ten_times(0, 20, false), 4U);
  process.run_ms_ten_times(20, 0, false);
  EXPECT_EQ(process.run_ms_ten_times(0, 20, false), 1U);
}

TEST(DemandTest, InsideOfALongLoopIsWhatMoreThanOneThreadRuns) {
  Process process;
  EXPECT_EQ(process.run_ms_ten_times(60, 0, false), 4U);
  EXPECT_EQ(process.run_ms_ten_times(20, 20, false), 4U) << "two threads take turns on a core";
}

TEST(DemandTest, WorkIsATwentiethOfTheTime) {
  EXPECT_TRUE(Demand::is_work(1'000'001, 20'000'000));
  EXPECT_FALSE(Demand::is_work(1'000'000, 20'000'000));
  EXPECT_FALSE(Demand::is_work(1'000'001, 100'000'000));
}

}  // namespace
}  // namespace sorrel::governor
