#include "transport/host/host_link.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/copy_bytes.hpp"

namespace sorrel::transport {

namespace {

constexpr std::uint32_t receive_bytes_max = 16u << 20;
constexpr std::uint32_t credits_min = 4;
constexpr std::uint32_t payload_bytes_min = 4096;
/// Receives beside the credits: for credit messages (README.md, "Bound").
constexpr std::uint32_t credit_message_receives = 2;
/// Receives that may wait to be posted again until an idle moment.
constexpr std::size_t used_count_max = 4;

constexpr std::size_t rounded_to_line(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

HostLimits HostLimits::for_peers(std::uint32_t peer_count) {
  HostLimits limits;
  const std::uint32_t peers = std::max(peer_count, 1u);
  // With many peers, each has few packets: they are shorter.
  if (receive_bytes_max / limits.payload_bytes_max / peers < credits_min)
    limits.payload_bytes_max = payload_bytes_min;
  limits.credits =
      std::clamp(receive_bytes_max / limits.payload_bytes_max / peers, credits_min, limits.credits);
  return limits;
}

HostLink::HostLink(const sorrel_host_api& api,
                   void* host,
                   std::uint32_t own_process,
                   std::uint32_t process_count,
                   const HostLimits& limits,
                   const std::vector<std::uint32_t>& seldom_peers)
    : api_(api),
      host_(host),
      own_process_(own_process),
      limits_(limits),
      is_any_source_(process_count - 1 > limits.queue_count_max),
      packet_bytes_(rounded_to_line(host_header_bytes_max + limits.payload_bytes_max)),
      peers_(process_count) {
  for (Peer& peer : peers_)
    peer.granted = limits.credits;
  for (const std::uint32_t process : seldom_peers)
    peers_[process].granted = std::min(credits_min, limits.credits);
  for (std::uint32_t process = 0; process < process_count; ++process) {
    if (process != own_process) receive_count_ += peers_[process].granted + credit_message_receives;
  }
  // Not cleared: untouched pages take no memory.
  receive_memory_.reset(new std::byte[receive_count_ * packet_bytes_]);
  send_memory_.reset(new std::byte[limits.send_slots * packet_bytes_]);
  arrivals_.resize(receive_count_);
  const std::uint32_t queue_count = is_any_source_ ? 1 : process_count - 1;
  // Slots after those of packets hold credit messages, one for each process.
  api_.reserve(host_, static_cast<int>(queue_count), static_cast<int>(receive_count_),
               static_cast<int>(limits.send_slots + process_count));
  for (std::uint32_t slot = limits.send_slots; slot-- > 0;)
    free_sends_.push_back(slot);
  std::uint32_t slot = 0;
  for (std::uint32_t process = 0; process < process_count; ++process) {
    Peer& peer = peers_[process];
    peer.credits = peer.granted;
    if (process == own_process) continue;
    for (std::uint32_t i = 0; i < peer.granted + credit_message_receives; ++i)
      post(slot++, process);
  }
}

void HostLink::post(std::uint32_t slot, std::uint32_t process) {
  api_.receive(host_, static_cast<int>(queue_of(process)), static_cast<int>(slot),
               receive_buffer(slot), static_cast<int>(packet_bytes_),
               is_any_source_ ? SORREL_HOST_ANY_SOURCE : static_cast<int>(process));
}

std::uint32_t HostLink::take_owed(Peer& peer) {
  const std::uint32_t owed = peer.owed;
  peer.owed = 0;
  return owed;
}

bool HostLink::try_send(std::uint32_t process,
                        const HostHeader& header,
                        const void* payload,
                        std::uint32_t payload_bytes) {
  SORREL_ASSERT(process < peers_.size() && process != own_process_);
  SORREL_ASSERT(payload_bytes <= limits_.payload_bytes_max);
  Peer& peer = peers_[process];
  if (peer.credits == 0) return false;
  if (free_sends_.empty()) {
    progress();
    if (free_sends_.empty()) return false;
  }
  const std::uint32_t slot = free_sends_.back();
  std::byte* buffer = send_memory_.get() + slot * packet_bytes_;
  HostHeader sent = header;
  sent.credits = take_owed(peer);
  --peer.credits;
  const std::size_t header_bytes = write_header(sent, buffer);
  copy_bytes(buffer + header_bytes, payload, payload_bytes);
  const auto bytes = static_cast<int>(header_bytes + payload_bytes);
  if (api_.send(host_, static_cast<int>(slot), buffer, bytes, static_cast<int>(process)) == 0) {
    free_sends_.pop_back();
    under_way_.push_back(slot);
  }
  return true;
}

bool HostLink::take(Arrival& arrival) {
  sorrel_host_arrival came;
  while (api_.take(host_, &came) != 0) {
    const auto slot = static_cast<std::uint32_t>(came.slot);
    const auto process = static_cast<std::uint32_t>(came.source);
    SORREL_ASSERT(slot < receive_count_ && process < peers_.size() && process != own_process_);
    const std::byte* packet = receive_buffer(slot);
    const std::size_t header_bytes = read_header(packet, arrival.header);
    SORREL_ASSERT(static_cast<std::size_t>(came.bytes) >= header_bytes);
    peers_[process].credits += arrival.header.credits;
    SORREL_ASSERT(peers_[process].credits <= peers_[process].granted,
                  "process %u gives back more credits than it has got packets", process);
    if (arrival.header.kind == credit_kind) {
      post(slot, process);
      continue;
    }
    arrival.slot = slot;
    arrival.process = process;
    arrival.payload = packet + header_bytes;
    arrival.payload_bytes =
        static_cast<std::uint32_t>(came.bytes) - static_cast<std::uint32_t>(header_bytes);
    arrivals_[slot] = arrival;
    return true;
  }
  return false;
}

void HostLink::give_back(std::uint32_t slot) {
  SORREL_ASSERT(slot < receive_count_ && std::ranges::find(used_, slot) == used_.end(),
                "slot %u is given back twice", slot);
  used_.push_back(slot);
  if (used_.size() >= used_count_max) post_used();
}

void HostLink::post_used() {
  for (const std::uint32_t slot : used_) {
    const std::uint32_t process = arrivals_[slot].process;
    post(slot, process);
    Peer& peer = peers_[process];
    SORREL_ASSERT(peer.owed < peer.granted, "a packet of process %u is given back twice", process);
    ++peer.owed;
    if (is_credit_message_due(peer)) want_credit_message(process);
  }
  used_.clear();
}

void HostLink::want_credit_message(std::uint32_t process) {
  Peer& peer = peers_[process];
  if (peer.is_credit_message_wanted || try_send_credit_message(process)) return;
  peer.is_credit_message_wanted = true;
  waiting_credit_messages_.push_back(process);
}

/// Returns false while the previous one has not left.
bool HostLink::try_send_credit_message(std::uint32_t process) {
  Peer& peer = peers_[process];
  const auto slot = static_cast<int>(limits_.send_slots + process);
  if (peer.is_credit_message_under_way) {
    if (api_.is_sent(host_, slot) == 0) return false;
    credit_message_has_left(peer);
  }
  HostHeader note{.kind = credit_kind};
  note.credits = take_owed(peer);
  const auto bytes = static_cast<int>(write_header(note, peer.note.data()));
  if (api_.send(host_, slot, peer.note.data(), bytes, static_cast<int>(process)) == 0) {
    peer.is_credit_message_under_way = true;
    ++credit_messages_in_flight_;
  }
  return true;
}

void HostLink::progress() {
  if (!used_.empty()) post_used();
  if (!under_way_.empty()) {
    const auto is_gone = [&](std::uint32_t slot) {
      if (api_.is_sent(host_, static_cast<int>(slot)) == 0) return false;
      free_sends_.push_back(slot);
      return true;
    };
    // Sends mostly complete in order: do not test those after one that has not completed.
    const auto first = std::find_if_not(under_way_.begin(), under_way_.end(), is_gone);
    under_way_.erase(under_way_.begin(), first);
  }
  SORREL_ASSERT(free_sends_.size() + under_way_.size() == limits_.send_slots,
                "a send slot is lost, or free twice");
  if (!waiting_credit_messages_.empty()) {
    std::erase_if(waiting_credit_messages_, [&](std::uint32_t process) {
      Peer& peer = peers_[process];
      // A packet may have carried the credits meanwhile.
      if (is_credit_message_due(peer) && !try_send_credit_message(process)) return false;
      peer.is_credit_message_wanted = false;
      return true;
    });
  }
  if (credit_messages_in_flight_ == 0) return;
  for (std::uint32_t process = 0; process < peers_.size(); ++process) {
    Peer& peer = peers_[process];
    const auto slot = static_cast<int>(limits_.send_slots + process);
    if (!peer.is_credit_message_under_way || api_.is_sent(host_, slot) == 0) continue;
    credit_message_has_left(peer);
  }
}

}  // namespace sorrel::transport
