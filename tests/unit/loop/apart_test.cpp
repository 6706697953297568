#include "loop/team/apart.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

#include "os/cpu_set.hpp"

namespace sorrel::loop {
namespace {

TEST(Apart, leaves_its_callers_core_and_may_still_run_anywhere) {
  const auto allowed = os::allowed_cpus();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two cores";
  bool has_left = false;
  std::thread([&] {
    // The kernel may migrate it back at once.
    for (int attempt = 0; attempt < 100 && !has_left; ++attempt) {
      Apart apart;
      const int before = sched_getcpu();
      apart.note_caller();
      apart.go_on(1);
      has_left = sched_getcpu() != before;
    }
    EXPECT_EQ(os::allowed_cpus(), allowed);
  }).join();
  EXPECT_TRUE(has_left);
}

TEST(Apart, stays_where_it_is_when_it_was_called_from_elsewhere) {
  const auto allowed = os::allowed_cpus();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two cores";
  Apart apart;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(allowed.front()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    apart.note_caller();
  }).join();
  std::thread([&] {
    cpu_set_t other;
    CPU_ZERO(&other);
    CPU_SET(static_cast<std::size_t>(allowed.back()), &other);
    ASSERT_EQ(sched_setaffinity(0, sizeof other, &other), 0);
    apart.go_on(1);
    EXPECT_EQ(sched_getcpu(), allowed.back());
    EXPECT_EQ(os::allowed_cpus(), std::vector<int>{allowed.back()});
  }).join();
}

TEST(Apart, stays_where_there_is_no_other_core) {
  const auto allowed = os::allowed_cpus();
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(allowed.front()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    Apart apart;
    apart.note_caller();
    apart.go_on(1);
    EXPECT_EQ(os::allowed_cpus(), std::vector<int>{allowed.front()});
  }).join();
}

}  // namespace
}  // namespace sorrel::loop
