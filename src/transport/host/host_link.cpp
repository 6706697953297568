#include "transport/host/host_link.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace sorrel::transport {

namespace {

constexpr std::uint32_t receive_bytes_max = 16u << 20;
constexpr std::uint32_t credits_min = 4;
constexpr std::uint32_t payload_bytes_min = 4096;
/// Receives beside the credits: notes that give credits back (README.md, "Bound").
constexpr std::uint32_t note_receives = 2;
/// Receives to be posted again that wait for an idle moment.
constexpr std::size_t used_count_max = 4;

constexpr std::size_t rounded_to_line(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

HostLimits HostLimits::for_peers(std::uint32_t peer_count) {
  HostLimits limits;
  const std::uint32_t peers = std::max(peer_count, 1u);
  // Of many peers each has too little to say for long packets.
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
      is_any_source_(process_count - 1 > limits.lane_count_max),
      packet_bytes_(rounded_to_line(host_header_bytes_max + limits.payload_bytes_max)),
      peers_(process_count) {
  for (Peer& peer : peers_)
    peer.granted = limits.credits;
  for (const std::uint32_t process : seldom_peers)
    peers_[process].granted = std::min(credits_min, limits.credits);
  for (std::uint32_t process = 0; process < process_count; ++process) {
    if (process != own_process) receive_count_ += peers_[process].granted + note_receives;
  }
  // Not cleared: what is never used takes no memory.
  receive_memory_.reset(new std::byte[receive_count_ * packet_bytes_]);
  send_memory_.reset(new std::byte[limits.send_slots * packet_bytes_]);
  arrivals_.resize(receive_count_);
  const std::uint32_t lane_count = is_any_source_ ? 1 : process_count - 1;
  // The slots behind the packets' are the notes', one for each process.
  api_.reserve(host_, static_cast<int>(lane_count), static_cast<int>(receive_count_),
               static_cast<int>(limits.send_slots + process_count));
  for (std::uint32_t slot = limits.send_slots; slot-- > 0;)
    free_sends_.push_back(slot);
  std::uint32_t slot = 0;
  for (std::uint32_t process = 0; process < process_count; ++process) {
    Peer& peer = peers_[process];
    peer.credits = peer.granted;
    if (process == own_process) continue;
    for (std::uint32_t i = 0; i < peer.granted + note_receives; ++i)
      post(slot++, process);
  }
}

void HostLink::post(std::uint32_t slot, std::uint32_t process) {
  api_.receive(host_, static_cast<int>(lane_of(process)), static_cast<int>(slot),
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
  Peer& peer = peers_[process];
  if (peer.credits == 0) return false;
  if (free_sends_.empty()) {
    tend();
    if (free_sends_.empty()) return false;
  }
  const std::uint32_t slot = free_sends_.back();
  std::byte* buffer = send_memory_.get() + slot * packet_bytes_;
  HostHeader sent = header;
  sent.credits = take_owed(peer);
  --peer.credits;
  const std::size_t header_bytes = write_header(sent, buffer);
  if (payload_bytes != 0) std::memcpy(buffer + header_bytes, payload, payload_bytes);
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
    const std::byte* packet = receive_buffer(slot);
    const std::size_t header_bytes = read_header(packet, arrival.header);
    peers_[process].credits += arrival.header.credits;
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
  used_.push_back(slot);
  if (used_.size() >= used_count_max) post_used();
}

void HostLink::post_used() {
  for (const std::uint32_t slot : used_) {
    const std::uint32_t process = arrivals_[slot].process;
    post(slot, process);
    Peer& peer = peers_[process];
    ++peer.owed;
    if (is_note_due(peer)) want_note(process);
  }
  used_.clear();
}

void HostLink::want_note(std::uint32_t process) {
  Peer& peer = peers_[process];
  if (peer.is_note_wanted || try_send_note(process)) return;
  peer.is_note_wanted = true;
  waiting_notes_.push_back(process);
}

/// False while the last one has not left.
bool HostLink::try_send_note(std::uint32_t process) {
  Peer& peer = peers_[process];
  const auto slot = static_cast<int>(limits_.send_slots + process);
  if (peer.is_note_under_way) {
    if (api_.is_sent(host_, slot) == 0) return false;
    peer.is_note_under_way = false;
    --notes_under_way_;
  }
  HostHeader note{.kind = credit_kind};
  note.credits = take_owed(peer);
  const auto bytes = static_cast<int>(write_header(note, peer.note.data()));
  if (api_.send(host_, slot, peer.note.data(), bytes, static_cast<int>(process)) == 0) {
    peer.is_note_under_way = true;
    ++notes_under_way_;
  }
  return true;
}

void HostLink::tend() {
  if (!used_.empty()) post_used();
  if (!under_way_.empty()) {
    const auto is_gone = [&](std::uint32_t slot) {
      if (api_.is_sent(host_, static_cast<int>(slot)) == 0) return false;
      free_sends_.push_back(slot);
      return true;
    };
    // Mostly they leave in order: not worth asking for those behind one that has not.
    const auto first = std::find_if_not(under_way_.begin(), under_way_.end(), is_gone);
    under_way_.erase(under_way_.begin(), first);
  }
  if (!waiting_notes_.empty()) {
    std::erase_if(waiting_notes_, [&](std::uint32_t process) {
      Peer& peer = peers_[process];
      // A packet may have carried them meanwhile.
      if (is_note_due(peer) && !try_send_note(process)) return false;
      peer.is_note_wanted = false;
      return true;
    });
  }
  if (notes_under_way_ == 0) return;
  for (std::uint32_t process = 0; process < peers_.size(); ++process) {
    Peer& peer = peers_[process];
    const auto slot = static_cast<int>(limits_.send_slots + process);
    if (!peer.is_note_under_way || api_.is_sent(host_, slot) == 0) continue;
    peer.is_note_under_way = false;
    --notes_under_way_;
  }
}

}  // namespace sorrel::transport
