#include "os/cpu_time.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <unistd.h>

namespace sorrel::os {
namespace {

TEST(CpuTimeTest, TheTimeOfAThreadGrowsWhileItRunsAndIsPartOfItsProcess) {
  const auto before_ns = cpu_ns_of_thread(::gettid());
  ASSERT_TRUE(before_ns.has_value());
  auto now_ns = before_ns;
  while (now_ns && *now_ns < *before_ns + 1'000'000)
    now_ns = cpu_ns_of_thread(::gettid());
  EXPECT_TRUE(now_ns.has_value());
  EXPECT_GE(cpu_ns_of_process(::getpid()), now_ns);
}

TEST(CpuTimeTest, AThreadThatDoesNotExistHasNone) {
  constexpr pid_t none = std::numeric_limits<pid_t>::max() / 16;
  EXPECT_EQ(cpu_ns_of_thread(none), std::nullopt);
  EXPECT_EQ(cpu_ns_of_process(none), std::nullopt);
}

}  // namespace
}  // namespace sorrel::os
