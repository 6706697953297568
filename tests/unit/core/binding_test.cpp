#include "core/binding.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "os/clock.hpp"
#include "os/cpu_set.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::core {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

TEST(BindingTest, AStarvedThreadWaitsForASliceAndForAnEighthOfItsTime) {
  const os::RunTimes from{.run_ns = 5'000'000, .delay_ns = 3'000'000, .slice_count = 100};
  const auto after = [&](std::int64_t run_ns, std::int64_t delay_ns, std::int64_t slices) {
    return os::RunTimes{.run_ns = from.run_ns + run_ns,
                        .delay_ns = from.delay_ns + delay_ns,
                        .slice_count = from.slice_count + slices};
  };
  EXPECT_TRUE(is_starved(from, after(3'000'000, 3'000'000, 1)));
  EXPECT_FALSE(is_starved(from, after(0, 900'000, 1))) << "less than a slice";
  EXPECT_FALSE(is_starved(from, after(100'000'000, 3'000'000, 1))) << "now and then";
  EXPECT_FALSE(is_starved(from, after(3'000'000, 3'000'000, 40))) << "wake-ups of an idle core";
}

TEST(BindingPauseTest, DoublesWhenTheThreadIsReleasedAgainSoon) {
  BindingPause pause;
  EXPECT_TRUE(pause.is_over(second_ns));
  std::int64_t now_ns = second_ns;
  std::int64_t expected_ns = BindingPause::pause_ns_min;
  for (int i = 0; i < 10; ++i) {
    pause.record_release(now_ns);
    EXPECT_FALSE(pause.is_over(now_ns + expected_ns - 1)) << i;
    now_ns += expected_ns;
    EXPECT_TRUE(pause.is_over(now_ns)) << i;
    pause.record_bound(now_ns);
    now_ns += 10'000'000;
    expected_ns = std::min(2 * expected_ns, BindingPause::pause_ns_max);
  }
  // Long after the last trial: from the beginning.
  now_ns += 2 * BindingPause::pause_ns_max;
  pause.record_release(now_ns);
  EXPECT_TRUE(pause.is_over(now_ns + BindingPause::pause_ns_min));
}

TEST(BindingTest, AReleasedThreadIsBoundAgainAfterThePause) {
  const std::vector<int> allowed = os::allowed_cpus();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two cores";
  std::thread([&] {
    Binding binding;
    binding.begin(allowed.back(), allowed);
    EXPECT_EQ(os::allowed_cpus(), std::vector{allowed.back()});
    EXPECT_EQ(binding.bound_thread(), os::thread_number());
    binding.update(second_ns);
    std::thread([&] { binding.release(); }).join();
    EXPECT_EQ(os::allowed_cpus(), allowed);
    EXPECT_EQ(binding.bound_thread(), 0);
    binding.update(2 * second_ns);
    binding.update(3 * second_ns - 1);
    EXPECT_EQ(os::allowed_cpus(), allowed);
    binding.update(3 * second_ns);
    EXPECT_EQ(os::allowed_cpus(), std::vector{allowed.back()});
    EXPECT_EQ(binding.bound_thread(), os::thread_number());
    binding.end();
    EXPECT_EQ(binding.bound_thread(), 0);
  }).join();
}

TEST(BindingTest, CpusThatTheProgramHasSetStay) {
  const std::vector<int> allowed = os::allowed_cpus();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two cores";
  std::thread([&] {
    Binding binding;
    binding.begin(allowed.back(), allowed);
    const std::vector<int> chosen{allowed.front()};
    ASSERT_TRUE(os::set_allowed_cpus(0, chosen));
    binding.release();
    EXPECT_EQ(os::allowed_cpus(), chosen);
    binding.update(second_ns);
    binding.update(100 * second_ns);
    EXPECT_EQ(os::allowed_cpus(), chosen);
  }).join();
}

/// Two threads that compute on one core wait for each other, however busy the machine is.
TEST(BindingTest, AWaitingWorkerReleasesAStarvedThread) {
  const std::vector<int> allowed = os::allowed_cpus();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two cores";
  Binding binding;
  std::atomic<bool> is_bound{false};
  std::atomic<bool> is_over{false};
  std::thread foreign([&] {
    os::set_allowed_cpus(0, {&allowed.front(), 1});
    while (!is_over.load(std::memory_order_relaxed)) {
    }
  });
  std::vector<int> cpus_after;
  std::thread starved([&] {
    binding.begin(allowed.front(), allowed);
    // Release, pairs with the acquire below: in a scheduler all workers begin before one runs.
    is_bound.store(true, std::memory_order_release);
    while (!is_over.load(std::memory_order_relaxed)) {
    }
    cpus_after = os::allowed_cpus();
  });
  while (!is_bound.load(std::memory_order_acquire))
    std::this_thread::yield();
  BindingWatch watch(2);
  std::int64_t due_ns = 0;
  while (binding.bound_thread() != 0) {
    const std::int64_t now_ns = os::monotonic_ns();
    if (!watch.is_due(now_ns)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    EXPECT_GE(now_ns, due_ns);
    due_ns = now_ns + BindingWatch::period_ns;
    if (watch.next(now_ns) == 1) watch.observe(1, binding);
  }
  is_over.store(true, std::memory_order_relaxed);
  foreign.join();
  starved.join();
  EXPECT_EQ(cpus_after, allowed);
}

}  // namespace
}  // namespace sorrel::core
