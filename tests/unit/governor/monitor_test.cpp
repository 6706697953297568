#include "governor/monitor.hpp"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace sorrel::governor {
namespace {

using Clock = std::chrono::steady_clock;

Settings alone() {
  Settings settings;
  settings.limits.width_max = 2;
  settings.limits.share = Share::fixed;
  return settings;
}

TEST(MonitorTest, TicksRarelyWhenNothingChanges) {
  Controls controls;
  Monitor monitor(alone(), controls);
  std::atomic<int> tick_count{0};
  monitor.set_on_tick([&] { return Monitor::Finding{.is_used = tick_count.fetch_add(1) >= 0}; });
  monitor.begin_watching();
  // Other load may change a decision, after which the monitor ticks often for a while.
  bool was_quiet = false;
  for (int attempt = 0; attempt < 60 && !was_quiet; ++attempt) {
    const int ticks_before = tick_count.load();
    const auto began = Clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const auto ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count();
    const int ticks = tick_count.load() - ticks_before;
    // Every 120 ms, and one on either side; at 20 ms there would be six times as many.
    was_quiet = ticks >= 1 && ticks <= ms / 100 + 2;
  }
  EXPECT_TRUE(was_quiet);
}

TEST(MonitorTest, ThatIsQuietEndsAtOnce) {
  Controls controls;
  std::atomic<int> tick_count{0};
  auto began = Clock::now();
  {
    Monitor monitor(alone(), controls);
    monitor.set_on_tick([&] { return Monitor::Finding{.is_used = tick_count.fetch_add(1) >= 0}; });
    monitor.begin_watching();
    while (tick_count.load() < 30)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    began = Clock::now();
  }
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace sorrel::governor
