//! Wire - the connections of pretend nodes: when what leaves one now is at another.
//!
//! Every node is connected to a switch by one line out and one line in, each with the wire's
//! bandwidth; the switch delays by the latency and never blocks. A cut-through model: LogGP
//! (Alexandrov et al. 1995) without its o, which is whatever the sender's and receiver's code
//! takes.
//!
//! *Packets* queue up behind each other, and a node hears what it is sent in the order in which it
//! left. *Data* that is fetched fills the times in which both lines, out of one node and into the
//! other, are free, in pieces if need be: as a network does that cuts everything into frames, a
//! transfer that waits for one line keeps nobody else from the other. For the same reason a packet
//! does not wait behind data that somebody fetches; what it takes of a line, the next data pays.
//!
//! Any thread. A lock for the time of a few dozen instructions where data is fetched.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

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

  /// When the last of a packet's `bytes` that leave node `from` at `now_ns`, or as soon as the
  /// packets before have, is at node `to`. Different for all that arrive at a node, and later for
  /// what is asked for later.
  [[nodiscard]] std::int64_t arrival_ns(std::uint32_t from,
                                        std::uint32_t to,
                                        std::int64_t now_ns,
                                        std::size_t bytes);

  /// When the `bytes` of data are at node `by` that it asks node `of` for at `now_ns`.
  [[nodiscard]] std::int64_t answer_ns(std::uint32_t by,
                                       std::uint32_t of,
                                       std::int64_t now_ns,
                                       std::size_t bytes);

 private:
  struct Busy {
    std::int64_t begin_ns = 0, end_ns = 0;
  };

  /// When data is on a line: in order of time, apart. Under the lock.
  class Plan {
   public:
    /// The first time from `earliest_ns` on at which the line is free, and until when.
    [[nodiscard]] Busy free_from(std::int64_t earliest_ns) const;
    void add(const Busy& busy);
    /// Nobody will ask about the time before.
    void forget_before(std::int64_t ns);

   private:
    std::vector<Busy> busy_;
  };

  struct alignas(cache_line_bytes) Line {
    // Relaxed all: they order nothing.
    std::atomic<std::int64_t> packets_end_ns{0};
    std::atomic<std::int64_t> data_end_ns{0};
    /// What packets have taken of the time of data.
    std::atomic<std::int64_t> owed_ns{0};
    Plan plan;
  };

  struct Node {
    Line out, in;
    std::atomic<std::uint64_t> packet_count{0};
  };

  static std::int64_t take(Line& line, std::int64_t earliest_ns, std::int64_t duration_ns);
  [[nodiscard]] std::int64_t jitter_ns(std::uint32_t from);

  const WireOptions options_;
  std::unique_ptr<Node[]> nodes_;
  std::mutex planning_;
};

}  // namespace sorrel::transport
