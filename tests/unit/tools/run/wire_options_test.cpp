#include "tools/sorrel/run/wire_options.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

TEST(WireOptionsTest, PartsAreReadInAnyOrderWithTheirUnits) {
  WireOptions wire;
  EXPECT_EQ(parse_wire("bandwidth=1.5GB/s,nodes=4,latency=20us,jitter=500ns", wire), "");
  EXPECT_EQ(wire.node_count, 4U);
  EXPECT_EQ(wire.latency_ns, 20'000);
  EXPECT_EQ(wire.jitter_ns, 500);
  EXPECT_TRUE(wire.has_jitter);
  EXPECT_DOUBLE_EQ(wire.bytes_per_second, 1.5e9);
}

TEST(WireOptionsTest, WhatIsNotSaidIsTwoNodesWithoutDelayOrLimit) {
  WireOptions wire;
  EXPECT_EQ(parse_wire("latency=1ms", wire), "");
  EXPECT_EQ(wire.node_count, 2U);
  EXPECT_EQ(wire.latency_ns, 1'000'000);
  EXPECT_FALSE(wire.has_jitter);
  EXPECT_EQ(wire.bytes_per_second, 0);
}

TEST(WireOptionsTest, WhatIsWrongIsNamedWithWhatIsAllowed) {
  const auto error_of = [](std::string_view text) {
    WireOptions wire;
    return parse_wire(text, wire);
  };
  EXPECT_EQ(error_of("latency=20"),
            "latency must be a time such as 500ns, 20us or 1ms, at most 10s, not '20'");
  EXPECT_EQ(error_of("latency=-1us"),
            "latency must be a time such as 500ns, 20us or 1ms, at most 10s, not '-1us'");
  EXPECT_EQ(error_of("jitter=11s"),
            "jitter must be a time such as 500ns, 20us or 1ms, at most 10s, not '11s'");
  EXPECT_EQ(error_of("bandwidth=0GB/s"),
            "bandwidth must be a rate such as 100MB/s or 1GB/s, from 1B/s to 1e6GB/s, not '0GB/s'");
  EXPECT_EQ(error_of("nodes=1"), "nodes must be a whole number from 2 to 1024, not '1'");
  EXPECT_EQ(error_of("nodes=2,nodes=3"), "nodes is given twice");
  EXPECT_EQ(error_of("speed=1"),
            "'speed' is not one of latency=TIME, bandwidth=RATE, nodes=N, jitter=TIME");
  EXPECT_EQ(error_of("nodes"),
            "'nodes' is not one of latency=TIME, bandwidth=RATE, nodes=N, jitter=TIME");
  EXPECT_EQ(error_of(""),
            "give at least one of latency=TIME, bandwidth=RATE, nodes=N, jitter=TIME");
}

TEST(WireOptionsTest, WhatIsNoFiniteNumberIsRefused) {
  for (const char* text : {"latency=nanus", "latency=infs", "jitter=nans", "bandwidth=nanGB/s",
                           "bandwidth=infB/s", "bandwidth=1e308GB/s", "latency=1e999s"}) {
    WireOptions wire;
    EXPECT_NE(parse_wire(text, wire), "") << text;
  }
}

}  // namespace
}  // namespace sorrel::tool
