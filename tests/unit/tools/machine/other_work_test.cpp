#include "tools/sorrel/machine/other_work.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

#include "os/clock.hpp"
#include "os/cpu_set.hpp"
#include "tools/sorrel/plan/plan_machine.hpp"

namespace sorrel::tool {
namespace {

TEST(OtherWork, BusyTimeIsThatOfTheCpusAskedForWithoutIdleOnes) {
  const std::string stat =
      "cpu  9 9 9 9 9 9 9 9 9 9\n"
      "cpu0 100 20 30 5000 7000 4 5 6 0 0\n"
      "cpu1 1000 0 0 1 1 0 0 0 0 0\n"
      "cpu12 7 0 0 1 1 0 0 0 0 0\n"
      "intr 12345\n";
  EXPECT_DOUBLE_EQ(busy_seconds(stat, {0}, 100), 1.65);
  EXPECT_DOUBLE_EQ(busy_seconds(stat, {0, 12}, 100), 1.72);
  EXPECT_DOUBLE_EQ(busy_seconds("", {0}, 100), 0);
}

/// The machine and this process at a moment.
struct Moment {
  std::int64_t time_ns = os::monotonic_ns();
  double own_s = 1e-9 * static_cast<double>(os::process_cpu_ns());
  double busy_s = busy_now();

  static double busy_now() {
    std::ifstream file("/proc/stat");
    std::ostringstream text;
    text << file.rdbuf();
    return busy_seconds(text.str(), os::allowed_cpus(), static_cast<double>(sysconf(_SC_CLK_TCK)));
  }

  /// Processor time of others since an earlier moment.
  [[nodiscard]] double other_s_since(const Moment& earlier) const {
    return busy_s - earlier.busy_s - (own_s - earlier.own_s);
  }

  /// Processor time that there was since an earlier moment.
  [[nodiscard]] double available_s_since(const Moment& earlier) const {
    return 1e-9 * static_cast<double>(time_ns - earlier.time_ns) *
           static_cast<double>(os::allowed_cpus().size());
  }
};

TEST(OtherWork, ThisProcessIsNone) {
  const Moment before_begin;
  const OtherWork other_work;
  const Moment after_begin;
  const std::int64_t end_ns = os::process_cpu_ns() + 300'000'000;
  while (os::process_cpu_ns() < end_ns) {
  }
  const Moment before_end;
  const double share = other_work.share();
  const Moment after_end;
  // Its interval is longer than the one and shorter than the other, however late this thread is in
  // between. The kernel counts in ticks.
  constexpr double ticks_s = 0.1;
  EXPECT_LE(share * before_end.available_s_since(after_begin),
            std::max(0.0, after_end.other_s_since(before_begin)) + ticks_s);
  EXPECT_GE(share * after_end.available_s_since(before_begin),
            before_end.other_s_since(after_begin) - ticks_s);
}

TEST(OtherWork, DatesAreInUtc) {
  const std::string date = date_now();
  EXPECT_EQ(date.size(), 20U) << date;
  EXPECT_TRUE(date.starts_with("20") && date.ends_with(" UTC")) << date;
}

TEST(MeasuredMachine, IsBusyBeyondALimitOfOtherWorkOrSpread) {
  EXPECT_FALSE(was_busy({.date = "", .spread = 0.04, .other_work = 0.02}));
  EXPECT_FALSE(was_busy({.date = "", .spread = {}, .other_work = {}}));
  EXPECT_TRUE(was_busy({.date = "", .spread = 0.04, .other_work = 0.45}));
  EXPECT_TRUE(was_busy({.date = "", .spread = 0.6, .other_work = 0.02}));
}

TEST(MeasuredMachine, SaysWhatIsKnown) {
  EXPECT_EQ(describe({.date = "2026-11-22 13:05 UTC", .spread = 0.04, .other_work = 0.02}),
            "measured 2026-11-22 13:05 UTC, spread 4 %, other work 2 %");
  EXPECT_EQ(describe(grid::Measurement{}), "measured");
}

}  // namespace
}  // namespace sorrel::tool
