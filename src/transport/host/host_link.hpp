//! HostLink - packets between processes over a host MPI, with a bound on packets in flight.
//!
//! One thread at a time (the turn of HostTransport); no call blocks. Every ordered pair of
//! processes has `credits`: as many receives are posted, and as many packets may be in flight or
//! not yet given back. Two more receives are for credit messages. Therefore no packet arrives
//! without a posted receive, and memory does not depend on the speed of any process. README.md has
//! the proof.
//!
//! Order: packets to one process arrive in the order in which they were sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "transport/host/host_api.h"
#include "transport/host/host_header.hpp"

namespace sorrel::transport {

struct HostLimits {
  std::uint32_t payload_bytes_max = 16u << 10;
  /// Credits of each ordered pair of processes.
  std::uint32_t credits = 32;
  std::uint32_t send_slots = 32;
  /// With more peers than this, receives match any source.
  std::uint32_t queue_count_max = 16;

  /// The packets of a process take at most 16 MiB, if 4 of each peer are in flight: with many peers
  /// they are shorter.
  [[nodiscard]] static HostLimits for_peers(std::uint32_t peer_count);
};

class HostLink {
 public:
  /// A packet that has arrived. Its memory is valid until give_back(slot).
  struct Arrival {
    std::uint32_t slot;
    std::uint32_t process;
    HostHeader header;
    const std::byte* payload;
    std::uint32_t payload_bytes;
  };

  /// Kind of a credit message.
  static constexpr std::uint32_t credit_kind = 63;

  /// `seldom_peers`: peers with few packets, which get the fewest credits.
  HostLink(const sorrel_host_api& api,
           void* host,
           std::uint32_t own_process,
           std::uint32_t process_count,
           const HostLimits& limits,
           const std::vector<std::uint32_t>& seldom_peers = {});
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  [[nodiscard]] const HostLimits& limits() const { return limits_; }

  [[nodiscard]] std::uint32_t receive_count() const { return receive_count_; }

  /// Returns false if there is no credit or no free slot: nothing was sent.
  [[nodiscard]] bool try_send(std::uint32_t process,
                              const HostHeader& header,
                              const void* payload,
                              std::uint32_t payload_bytes);

  /// Takes the next packet that has arrived; returns false if there is none.
  [[nodiscard]] bool take(Arrival& arrival);

  /// A packet that was taken before.
  [[nodiscard]] const Arrival& arrival(std::uint32_t slot) const { return arrivals_[slot]; }

  /// The packet has been handled: its receive is posted again, at progress() or together with
  /// others.
  void give_back(std::uint32_t slot);

  /// Progresses sends and receives. Call it now and then, while no message waits for this thread.
  void progress();

  /// Whether all sends have completed.
  [[nodiscard]] bool is_empty() const {
    return under_way_.empty() && credit_messages_in_flight_ == 0;
  }

 private:
  struct Peer {
    std::uint32_t granted = 0;  ///< Credits of each direction.
    std::uint32_t credits = 0;  ///< Packets that this process may send.
    std::uint32_t owed = 0;     ///< Credits to give back.
    bool is_credit_message_under_way = false;
    bool is_credit_message_wanted = false;
    std::array<std::byte, host_header_bytes_max> note;
  };

  [[nodiscard]] std::byte* receive_buffer(std::uint32_t slot) {
    return receive_memory_.get() + slot * packet_bytes_;
  }

  [[nodiscard]] std::uint32_t queue_of(std::uint32_t process) const {
    return is_any_source_ ? 0 : process < own_process_ ? process : process - 1;
  }

  void post(std::uint32_t slot, std::uint32_t process);
  void post_used();

  /// Half of all credits: at most two credit messages of this process are in flight (README.md,
  /// "Bound").
  [[nodiscard]] static bool is_credit_message_due(const Peer& peer) {
    return peer.owed >= (peer.granted + 1) / 2;
  }

  void want_credit_message(std::uint32_t process);
  bool try_send_credit_message(std::uint32_t process);

  void credit_message_has_left(Peer& peer) {
    SORREL_ASSERT(peer.is_credit_message_under_way && credit_messages_in_flight_ != 0);
    peer.is_credit_message_under_way = false;
    --credit_messages_in_flight_;
  }

  [[nodiscard]] std::uint32_t take_owed(Peer& peer);

  const sorrel_host_api& api_;
  void* const host_;
  const std::uint32_t own_process_;
  const HostLimits limits_;
  const bool is_any_source_;
  const std::size_t packet_bytes_;
  std::uint32_t receive_count_ = 0;
  std::vector<Peer> peers_;
  std::unique_ptr<std::byte[]> receive_memory_;
  std::unique_ptr<std::byte[]> send_memory_;
  std::vector<Arrival> arrivals_;
  std::vector<std::uint32_t> free_sends_;
  /// Slots whose receives are to be posted again.
  std::vector<std::uint32_t> used_;
  /// Slots whose sends have not completed, oldest first.
  std::vector<std::uint32_t> under_way_;
  std::uint32_t credit_messages_in_flight_ = 0;
  /// Processes that are owed a credit message that could not be sent.
  std::vector<std::uint32_t> waiting_credit_messages_;
};

}  // namespace sorrel::transport
