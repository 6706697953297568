//! The value of --wire: simulated nodes and the network between them. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sorrel::tool {

struct WireOptions {
  std::uint32_t nodes = 2;
  std::int64_t latency_ns = 0;
  std::int64_t jitter_ns = 0;
  bool has_jitter = false;
  double bytes_per_second = 0;  ///< 0: no limit
};

/// Parses "latency=20us,bandwidth=1GB/s,nodes=4,jitter=5us", each part at most once and in any
/// order. Returns one line that says what is wrong and what is allowed; empty without an error.
[[nodiscard]] std::string parse_wire(std::string_view text, WireOptions& wire);

}  // namespace sorrel::tool
