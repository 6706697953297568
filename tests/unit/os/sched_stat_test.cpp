#include "os/sched_stat.hpp"

#include <gtest/gtest.h>
#include <thread>

#include "os/clock.hpp"

namespace sorrel::os {
namespace {

TEST(SchedStatTest, RunTimeGrowsWithWork) {
  const SchedStat self(thread_number());
  const auto before = self.read();
  if (!before) GTEST_SKIP() << "this kernel has no schedstat";
  const std::int64_t began_ns = monotonic_ns();
  while (monotonic_ns() - began_ns < 20'000'000) {
  }
  const auto after = self.read();
  ASSERT_TRUE(after);
  EXPECT_GT(after->run_ns + after->delay_ns, before->run_ns + before->delay_ns);
}

TEST(SchedStatTest, AThreadThatIsGoneReadsAsNothing) {
  int number = 0;
  std::thread([&] { number = thread_number(); }).join();
  EXPECT_FALSE(SchedStat(number).read());
}

}  // namespace
}  // namespace sorrel::os
