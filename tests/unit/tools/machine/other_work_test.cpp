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

double busy_seconds_now() {
  std::ifstream file("/proc/stat");
  std::ostringstream text;
  text << file.rdbuf();
  return busy_seconds(text.str(), os::allowed_cpus(), static_cast<double>(sysconf(_SC_CLK_TCK)));
}

TEST(OtherWork, ThisProcessIsNone) {
  const double busy_before_s = busy_seconds_now();
  const std::int64_t began_ns = os::monotonic_ns();
  const OtherWork other_work;
  const std::int64_t end_ns = os::process_cpu_ns() + 300'000'000;
  while (os::process_cpu_ns() < end_ns) {
  }
  const double share = other_work.share();
  const double elapsed_s = 1e-9 * static_cast<double>(os::monotonic_ns() - began_ns);
  const double other_s = std::max(0.0, busy_seconds_now() - busy_before_s - 0.3);
  EXPECT_NEAR(share * elapsed_s * static_cast<double>(os::allowed_cpus().size()), other_s, 0.1);
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
