#include "os/clock.hpp"

#include <ctime>
#include <gtest/gtest.h>

namespace sorrel::os {
namespace {

TEST(ClockTest, NeverRunsBackwards) {
  std::int64_t before_ns = monotonic_ns();
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t now_ns = monotonic_ns();
    ASSERT_GE(now_ns, before_ns);
    before_ns = now_ns;
  }
}

TEST(ClockTest, CountsNanoseconds) {
  const std::int64_t before_ns = monotonic_ns();
  const timespec pause{.tv_sec = 0, .tv_nsec = 3'000'000};
  timespec rest = pause;
  while (nanosleep(&rest, &rest) != 0) {
  }
  EXPECT_GE(monotonic_ns() - before_ns, 3'000'000);
}

}  // namespace
}  // namespace sorrel::os
