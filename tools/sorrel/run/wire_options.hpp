//! The value of --wire: simulated nodes and the network between them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launch/job_spec.hpp"

namespace sorrel::tool {

struct WireOptions : launch::WireSpec {
  bool has_jitter = false;  ///< given
};

/// Parses "latency=20us,bandwidth=1GB/s,nodes=4,jitter=5us", each part at most once and in any
/// order. Returns one line that says what is wrong and what is allowed; empty without an error.
[[nodiscard]] std::string parse_wire(std::string_view text, WireOptions& wire);

/// "500ns", "20us", "1ms", "2min", "1h": nanoseconds, at most those of `seconds_max`.
[[nodiscard]] std::optional<std::int64_t> parse_delay(std::string_view text,
                                                      double seconds_max = 10);

}  // namespace sorrel::tool
