//! Wire - the connections of simulated nodes: computes when data that leaves one node now arrives
//! at another.
//!
//! Every node is connected to a switch by one outgoing and one incoming line, each with the wire's
//! bandwidth; the switch delays by the latency and never blocks. A cut-through model: LogGP
//! (Alexandrov et al. 1995) without its o, which is the time of the sender's and receiver's code.
//!
//! *Packets* follow each other. Those from one node to another arrive in the order in which they
//! left. Those of several nodes share the incoming line: a packet takes the first time at which
//! the line is free, also before packets that wait on the outgoing line of another node. *Pulled
//! data* fills the times in which both lines, out of one node and into the other, are free, in
//! pieces if need be: as in a network that transmits frames, a transfer that waits for one line
//! does not block the other line. For the same reason a packet does not wait behind pulled data;
//! the next data is delayed by the packet's time.
//!
//! Any thread. A lock is held for a few dozen instructions: of the receiving node for a packet, of
//! the wire where data is pulled.
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
  /// Each packet is delayed by up to this much more, drawn from the seed.
  std::int64_t jitter_ns = 0;
  /// 0: unlimited.
  double bytes_per_ns = 0;
  std::uint64_t seed = 1;
};

class Wire {
 public:
  /// Bytes of a packet on the wire besides its payload.
  static constexpr std::size_t header_bytes = 32;

  explicit Wire(const WireOptions& options);

  [[nodiscard]] const WireOptions& options() const { return options_; }

  /// Arrival time at node `to` of the last byte of a packet of `bytes` that leaves node `from` at
  /// `now_ns`, or as soon as earlier packets have left. Distinct for all packets to a node, and
  /// increasing in the order of calls for those from one node.
  [[nodiscard]] std::int64_t arrival_ns(std::uint32_t from,
                                        std::uint32_t to,
                                        std::int64_t now_ns,
                                        std::size_t bytes);

  /// Time at which `bytes` of data that node `by` requests from node `of` at `now_ns` have arrived.
  [[nodiscard]] std::int64_t answer_ns(std::uint32_t by,
                                       std::uint32_t of,
                                       std::int64_t now_ns,
                                       std::size_t bytes);

 private:
  struct Busy {
    std::int64_t begin_ns = 0, end_ns = 0;
  };

  /// Times at which data, or packets, are on a line: ordered and disjoint. Under a lock.
  class Plan {
   public:
    /// First time from `earliest_ns` on at which the line is free, and until when.
    [[nodiscard]] Busy free_from(std::int64_t earliest_ns) const;
    /// First time from `earliest_ns` on at which it is free for so long.
    [[nodiscard]] std::int64_t free_for(std::int64_t earliest_ns, std::int64_t duration_ns) const;
    void add(const Busy& busy);
    /// No later call asks about times before.
    void forget_before(std::int64_t ns);

   private:
    std::vector<Busy> busy_;
  };

  struct alignas(cache_line_bytes) Line {
    // Relaxed, all of them: they order nothing.
    std::atomic<std::int64_t> packets_end_ns{0};
    std::atomic<std::int64_t> data_end_ns{0};
    /// Time that packets have taken from data.
    std::atomic<std::int64_t> owed_ns{0};
    Plan plan;
  };

  struct Node {
    Line out, in;
    std::atomic<std::uint64_t> packet_count{0};
    /// Guards the plan of packets on the incoming line.
    std::mutex arriving;
    Plan packets;
    /// The arrival of the last packet from each node. Made by the first one.
    std::vector<std::int64_t> last_from_ns;
  };

  static std::int64_t take_out(Line& line, std::int64_t now_ns, std::int64_t duration_ns);
  std::int64_t take_in(std::uint32_t from,
                       std::uint32_t to,
                       std::int64_t now_ns,
                       std::int64_t first_ns,
                       std::int64_t duration_ns);
  static void charge_data(Line& line, std::int64_t begin_ns, std::int64_t duration_ns);
  [[nodiscard]] std::int64_t jitter_ns(std::uint32_t from);

  const WireOptions options_;
  std::unique_ptr<Node[]> nodes_;
  std::mutex planning_;
};

}  // namespace sorrel::transport
