//! HostLink - packets between processes over a host MPI, with a bound on what is under way.
//!
//! One thread at a time (HostTransport's turn); nothing blocks. Every ordered pair of processes has
//! `credits`: so many receives are posted for it, and so many packets may be under way or not yet
//! given back. Two more receives are for the notes that give credits back. So nothing ever arrives
//! that nobody has posted a receive for, and memory does not depend on how slow a process is.
//! README.md has the proof.
//!
//! Order: packets to one process arrive in the order in which they were sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/host/host_api.h"
#include "transport/host/host_header.hpp"

namespace sorrel::transport {

struct HostLimits {
  std::uint32_t payload_bytes_max = 16u << 10;
  /// Of each ordered pair of processes.
  std::uint32_t credits = 32;
  std::uint32_t send_slots = 32;
  /// With more peers than that, receives are posted for whoever comes.
  std::uint32_t lane_count_max = 16;

  /// So that the packets of a process take 16 MiB at most, if 4 of each peer do: with many peers
  /// they are shorter.
  [[nodiscard]] static HostLimits for_peers(std::uint32_t peer_count);
};

class HostLink {
 public:
  /// A packet that has come. Its memory stays until give_back(slot).
  struct Arrival {
    std::uint32_t slot;
    std::uint32_t process;
    HostHeader header;
    const std::byte* payload;
    std::uint32_t payload_bytes;
  };

  /// A kind of its own: carries nothing but credits.
  static constexpr std::uint32_t credit_kind = 63;

  /// `seldom_peers`: few packets go to and fro, so that the least credits will do.
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

  /// False when there is no credit or no free slot: nothing was sent.
  [[nodiscard]] bool try_send(std::uint32_t process,
                              const HostHeader& header,
                              const void* payload,
                              std::uint32_t payload_bytes);

  /// The next packet that has come; false when there is none.
  [[nodiscard]] bool take(Arrival& arrival);

  /// A packet that was taken before.
  [[nodiscard]] const Arrival& arrival(std::uint32_t slot) const { return arrivals_[slot]; }

  /// The packet has been used: its receive is posted again, at tend() or when several are.
  void give_back(std::uint32_t slot);

  /// Looks after what is under way. Now and then, when nobody waits for us.
  void tend();

  /// Whether everything has left.
  [[nodiscard]] bool is_empty() const { return under_way_.empty() && notes_under_way_ == 0; }

 private:
  struct Peer {
    std::uint32_t granted = 0;  ///< Credits of each direction.
    std::uint32_t credits = 0;  ///< What we may send.
    std::uint32_t owed = 0;     ///< What we have to give back.
    bool is_note_under_way = false;
    bool is_note_wanted = false;
    std::array<std::byte, host_header_bytes_max> note;
  };

  [[nodiscard]] std::byte* receive_buffer(std::uint32_t slot) {
    return receive_memory_.get() + slot * packet_bytes_;
  }

  [[nodiscard]] std::uint32_t lane_of(std::uint32_t process) const {
    return is_any_source_ ? 0 : process < own_process_ ? process : process - 1;
  }

  void post(std::uint32_t slot, std::uint32_t process);
  void post_used();

  /// Half of all credits: so no more than two notes of ours are under way (README.md, "Bound").
  [[nodiscard]] static bool is_note_due(const Peer& peer) {
    return peer.owed >= (peer.granted + 1) / 2;
  }

  void want_note(std::uint32_t process);
  bool try_send_note(std::uint32_t process);
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
  /// Slots whose data has not left, oldest first.
  std::vector<std::uint32_t> under_way_;
  std::uint32_t notes_under_way_ = 0;
  /// Processes that are owed a note that could not be sent.
  std::vector<std::uint32_t> waiting_notes_;
};

}  // namespace sorrel::transport
