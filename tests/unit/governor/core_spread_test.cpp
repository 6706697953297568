#include "governor/core_spread.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

#include "os/cpu_set.hpp"

namespace sorrel::governor {
namespace {

TEST(CoreSpread, leaves_its_wakers_core_and_may_still_run_anywhere) {
  const auto allowed = os::allowed_cpus();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two cores";
  bool has_left = false;
  std::thread([&] {
    // The kernel may migrate it back at once.
    for (int attempt = 0; attempt < 100 && !has_left; ++attempt) {
      CoreSpread core_spread;
      const int before = sched_getcpu();
      core_spread.record_waker();
      core_spread.leave_waker(1);
      has_left = sched_getcpu() != before;
    }
    EXPECT_EQ(os::allowed_cpus(), allowed);
  }).join();
  EXPECT_TRUE(has_left);
}

TEST(CoreSpread, stays_on_its_core_when_the_waker_is_on_another) {
  const auto allowed = os::allowed_cpus();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two cores";
  CoreSpread core_spread;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(allowed.front()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    core_spread.record_waker();
  }).join();
  std::thread([&] {
    cpu_set_t other;
    CPU_ZERO(&other);
    CPU_SET(static_cast<std::size_t>(allowed.back()), &other);
    ASSERT_EQ(sched_setaffinity(0, sizeof other, &other), 0);
    core_spread.leave_waker(1);
    EXPECT_EQ(sched_getcpu(), allowed.back());
    EXPECT_EQ(os::allowed_cpus(), std::vector<int>{allowed.back()});
  }).join();
}

TEST(CoreSpread, stays_where_there_is_no_other_core) {
  const auto allowed = os::allowed_cpus();
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(allowed.front()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    CoreSpread core_spread;
    core_spread.record_waker();
    core_spread.leave_waker(1);
    EXPECT_EQ(os::allowed_cpus(), std::vector<int>{allowed.front()});
  }).join();
}

}  // namespace
}  // namespace sorrel::governor
