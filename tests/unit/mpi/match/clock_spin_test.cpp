#include "mpi/match/clock_spin.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace sorrel::mpi {
namespace {

/// For how long a rank has spun after `total_ns` in which it reads the clock every 50 ns, `count`
/// times, and then pauses.
std::int64_t spin_of(std::int64_t total_ns, int count, std::int64_t pause_ns) {
  std::int64_t spin_ns = 0;
  for (std::int64_t now_ns = 0; now_ns < total_ns; now_ns += 50 * count + pause_ns) {
    for (int i = 0; i < count; ++i)
      spin_ns = clock_spin_after(spin_ns, 50);
    spin_ns = clock_spin_after(spin_ns, pause_ns);
  }
  return spin_ns;
}

TEST(ClockSpin, GrowsAlthoughInterruptsComeSeveralTimesInAMillisecond) {
  EXPECT_GE(spin_of(2'000'000, 2'000, 10'000), clock_spin_ns_max);
  EXPECT_GE(spin_of(100'000'000, 2'000, 4'000'000), clock_spin_ns_max);
}

TEST(ClockSpin, StaysSmallWhereTheClockIsReadBetweenPiecesOfWork) {
  EXPECT_EQ(spin_of(100'000'000, 2, 3'000), 0);
  EXPECT_LT(spin_of(100'000'000, 100, 10'000), 20'000);
}

}  // namespace
}  // namespace sorrel::mpi
