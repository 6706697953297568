#include "transport/sim/wire.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "base/prng.hpp"

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

TEST(WireTest, APacketTakesTheLineInBeforeThoseThatStillWaitToLeave) {
  Wire wire({.node_count = 3, .latency_ns = 1000, .bytes_per_ns = 1});
  EXPECT_EQ(wire.arrival_ns(0, 1, 0, 500), 1500);
  EXPECT_EQ(wire.arrival_ns(0, 2, 0, 500), 2000) << "behind the first one on the line out";
  EXPECT_EQ(wire.arrival_ns(1, 2, 0, 500), 1500) << "the line into node 2 is free until then";
  EXPECT_EQ(wire.arrival_ns(1, 2, 0, 500), 2500) << "the next one comes behind both";
  EXPECT_EQ(wire.arrival_ns(0, 2, 0, 10), 2510) << "short ones of a pair do not overtake";
}

TEST(WireTest, AllToAllInTurnTakesTheTimeOfOneLine) {
  constexpr std::uint32_t nodes = 4;
  Wire wire({.node_count = nodes, .latency_ns = 1000, .bytes_per_ns = 1});
  std::int64_t last_ns = 0;
  // Each node sends all of its packets before the next node does, as on one core.
  for (std::uint32_t from = 0; from < nodes; ++from) {
    for (std::uint32_t i = 1; i < nodes; ++i) {
      for (int packet = 0; packet < 10; ++packet)
        last_ns = std::max(last_ns, wire.arrival_ns(from, (from + i) % nodes, 0, 100));
    }
  }
  EXPECT_EQ(last_ns, 1000 + 3 * 10 * 100);
}

TEST(WireTest, AnAnswerTakesBothWays) {
  Wire wire({.node_count = 2, .latency_ns = 1000, .bytes_per_ns = 1});
  EXPECT_EQ(wire.answer_ns(0, 1, 0, 500), 1000 + std::int64_t{Wire::header_bytes} + 1000 + 500);
}

TEST(WireTest, APacketDoesNotWaitBehindDataButDataPaysForIt) {
  Wire wire({.node_count = 2, .latency_ns = 1000, .bytes_per_ns = 1});
  const std::int64_t first_ns = wire.answer_ns(0, 1, 0, 1'000'000);
  EXPECT_EQ(first_ns, 1000 + std::int64_t{Wire::header_bytes} + 1000 + 1'000'000);
  EXPECT_EQ(wire.arrival_ns(1, 0, 10'000, 500), 10'000 + 1000 + 500) << "the way of the data";
  EXPECT_EQ(wire.arrival_ns(0, 1, 10'000, 500), 10'000 + 1000 + 500) << "the other way";
  EXPECT_EQ(wire.answer_ns(0, 1, 20'000, 2000), first_ns + 2000 + 500);
}

TEST(WireTest, DataThatWaitsForOneLineKeepsNobodyFromTheOther) {
  Wire wire({.node_count = 4, .latency_ns = 1000, .bytes_per_ns = 1});
  const std::int64_t way_ns = 1000 + std::int64_t{Wire::header_bytes} + 1000;
  EXPECT_EQ(wire.answer_ns(0, 1, 0, 50'000), way_ns + 50'000);
  EXPECT_GE(wire.answer_ns(2, 1, 0, 50'000), way_ns + 100'000)
      << "behind what node 0 has asked for";
  const std::int64_t other_ns = wire.answer_ns(2, 3, 0, 40'000);
  EXPECT_GE(other_ns, way_ns + 40'000);
  EXPECT_LE(other_ns, way_ns + 40'100) << "node 2's line in is free meanwhile";
}

TEST(WireTest, LinesAreFilledInPiecesAndNeverTwice) {
  constexpr std::uint32_t nodes = 4;
  Wire wire({.node_count = nodes, .latency_ns = 1000, .bytes_per_ns = 1});
  Prng prng(17);
  std::int64_t bytes_in[nodes] = {}, bytes_out[nodes] = {}, end_ns = 0;
  for (int i = 0; i < 400; ++i) {
    const auto by = static_cast<std::uint32_t>(prng.below(nodes));
    const auto of = static_cast<std::uint32_t>((by + 1 + prng.below(nodes - 1)) % nodes);
    const auto bytes = static_cast<std::int64_t>(1 + prng.below(20'000));
    bytes_in[by] += bytes;
    bytes_out[of] += bytes;
    const std::int64_t here_ns = wire.answer_ns(by, of, 0, static_cast<std::size_t>(bytes));
    EXPECT_GT(here_ns, 2000 + bytes);
    end_ns = std::max(end_ns, here_ns);
  }
  const std::int64_t longest_ns = std::max(*std::max_element(bytes_in, bytes_in + nodes),
                                           *std::max_element(bytes_out, bytes_out + nodes));
  EXPECT_GE(end_ns, longest_ns) << "no line carries more than it can";
  EXPECT_LE(end_ns, longest_ns * 3 / 2)
      << "and none is idle for long while there is something for it";
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
