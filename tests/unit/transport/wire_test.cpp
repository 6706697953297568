#include "transport/sim/wire.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace sorrel::transport {
namespace {

TEST(WireTest, ABytelessPacketTakesTheLatencyAndTheLeastTimeOfALine) {
  Wire wire({.node_count = 2, .latency_ns = 1000});
  EXPECT_EQ(wire.arrival_ns(0, 1, 50, 0), 50 + 1000 + 1);
}

TEST(WireTest, BytesTakeTheirTimeOnceBecauseTheSwitchDoesNotStoreThem) {
  Wire wire({.node_count = 2, .latency_ns = 1000, .bytes_per_ns = 2});
  EXPECT_EQ(wire.arrival_ns(0, 1, 0, 4000), 1000 + 2000);
}

TEST(WireTest, WhatLeavesANodeQueuesUp) {
  Wire wire({.node_count = 3, .latency_ns = 1000, .bytes_per_ns = 1});
  EXPECT_EQ(wire.arrival_ns(0, 1, 0, 500), 1500);
  EXPECT_EQ(wire.arrival_ns(0, 2, 0, 500), 2000) << "the line out was taken";
  EXPECT_EQ(wire.arrival_ns(0, 1, 5000, 500), 6500) << "and is free again";
}

TEST(WireTest, WhatComesToANodeQueuesUp) {
  Wire wire({.node_count = 3, .latency_ns = 1000, .bytes_per_ns = 1});
  EXPECT_EQ(wire.arrival_ns(0, 2, 0, 500), 1500);
  EXPECT_EQ(wire.arrival_ns(1, 2, 0, 500), 2000) << "the line in was taken";
  EXPECT_EQ(wire.arrival_ns(2, 0, 0, 500), 1500) << "both directions at once";
}

TEST(WireTest, AnAnswerTakesBothWays) {
  Wire wire({.node_count = 2, .latency_ns = 1000, .bytes_per_ns = 1});
  EXPECT_EQ(wire.answer_ns(0, 1, 0, 500), 1000 + std::int64_t{Wire::header_bytes} + 1000 + 500);
}

TEST(WireTest, JitterKeepsTheOrderAndIsAFunctionOfTheSeed) {
  const auto arrivals = [](std::uint64_t seed) {
    Wire wire({.node_count = 2, .latency_ns = 1000, .jitter_ns = 700, .seed = seed});
    std::vector<std::int64_t> times;
    for (std::int64_t now_ns = 0; now_ns < 10'000; now_ns += 100)
      times.push_back(wire.arrival_ns(0, 1, now_ns, 0));
    return times;
  };
  const auto times = arrivals(1);
  std::int64_t before_ns = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto sent_ns = static_cast<std::int64_t>(i) * 100;
    EXPECT_GT(times[i], before_ns);
    EXPECT_GE(times[i], sent_ns + 1000);
    // A late one holds up those behind it.
    EXPECT_LE(times[i], std::max(sent_ns + 1000 + 700, before_ns) + 1);
    before_ns = times[i];
  }
  EXPECT_EQ(times, arrivals(1));
  EXPECT_NE(times, arrivals(2));
}

}  // namespace
}  // namespace sorrel::transport
