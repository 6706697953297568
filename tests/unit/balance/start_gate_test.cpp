#include "balance/start_gate.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace sorrel::balance {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t s = 1000 * ms;

TEST(StartGate, OpensWhenWaitsHaveAddedUp) {
  StartGate gate;
  EXPECT_FALSE(gate.record(20 * ms, 30 * ms));
  EXPECT_FALSE(gate.record(20 * ms, 60 * ms));
  EXPECT_TRUE(gate.record(20 * ms, 90 * ms));
}

TEST(StartGate, StaysClosedWhileWaitsAreASmallPartOfTheTime) {
  StartGate gate;
  // A twentieth.
  for (std::int64_t now = 100 * ms; now < 60 * s; now += 100 * ms)
    ASSERT_FALSE(gate.record(5 * ms, now)) << now;
}

TEST(StartGate, OpensForALargePartThatBeginsLate) {
  StartGate gate;
  std::int64_t now = 3600 * s;
  int count = 0;
  for (; count < 1000; ++count) {
    now += 100 * ms;
    if (gate.record(50 * ms, now)) break;
  }
  // What lies long ago counts for little.
  EXPECT_LT(count, 60);
  EXPECT_GE(count, 1);
}

TEST(StartGate, OpensForOneLongWait) {
  StartGate gate;
  EXPECT_TRUE(gate.record(9 * s, 10 * s));
}

TEST(StartGate, CountsFromTheTimeAtWhichItWasMade) {
  StartGate gate(1000 * s);
  EXPECT_FALSE(gate.record(49 * ms, 1000 * s + 60 * ms));
  EXPECT_TRUE(gate.record(1 * ms, 1000 * s + 70 * ms));
}

}  // namespace
}  // namespace sorrel::balance
