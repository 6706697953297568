//! Wire - the connections of pretend nodes: when what leaves one now is at another.
//!
//! Every node is connected to a switch by one line out and one line in, each with the wire's
//! bandwidth; the switch delays by the latency and never blocks. So messages of a node queue up
//! behind each other, at its line out and at their receiver's line in, and a node hears what it is
//! sent in the order in which it left. A cut-through model: LogGP (Alexandrov et al. 1995) without
//! its o, which is whatever the sender's and receiver's code takes. Pure but for the lines' state;
//! any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/cache_line.hpp"

namespace sorrel::transport {

struct WireOptions {
  std::uint32_t node_count = 2;
  std::int64_t latency_ns = 0;
  /// Each packet is delayed by up to so much more, drawn from the seed.
  std::int64_t jitter_ns = 0;
  /// 0: no limit.
  double bytes_per_ns = 0;
  std::uint64_t seed = 1;
};

class Wire {
 public:
  /// What a packet needs on the wire besides its payload.
  static constexpr std::size_t header_bytes = 32;

  explicit Wire(const WireOptions& options);

  [[nodiscard]] const WireOptions& options() const { return options_; }

  /// When the last of `bytes` that leave node `from` at `now_ns`, or as soon as its line is free,
  /// is at node `to`. Different for all that arrive at a node, and later for what is asked for
  /// later.
  [[nodiscard]] std::int64_t arrival_ns(std::uint32_t from,
                                        std::uint32_t to,
                                        std::int64_t now_ns,
                                        std::size_t bytes);

  /// When the answer of `bytes` is back at node `by` that it asks node `of` for at `now_ns`.
  [[nodiscard]] std::int64_t answer_ns(std::uint32_t by,
                                       std::uint32_t of,
                                       std::int64_t now_ns,
                                       std::size_t bytes);

 private:
  // When each line is free again; relaxed: they order nothing.
  struct alignas(cache_line_bytes) Lines {
    std::atomic<std::int64_t> out_free_ns{0};
    std::atomic<std::int64_t> in_free_ns{0};
    std::atomic<std::uint64_t> packet_count{0};
  };

  [[nodiscard]] std::int64_t jitter_ns(std::uint32_t from);

  const WireOptions options_;
  std::unique_ptr<Lines[]> lines_;
};

}  // namespace sorrel::transport
