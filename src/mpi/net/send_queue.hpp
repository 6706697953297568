//! SendQueue - packets from one worker to the workers of other processes: in order, without loss
//! when the transport is full.
//!
//! Own worker only; nothing here suspends or fails. Packets that find the transport full stay in
//! the memory of their PendingSend, first in, first out per endpoint; no packet overtakes them. A
//! timer of the worker retries, at first soon, then less often. No limit of its own: each
//! PendingSend is part of a request, of a message kept here, or of a communicator.
#pragma once

#include <cstdint>
#include <vector>

#include "core/timer.hpp"
#include "core/worker.hpp"
#include "mpi/base/rank_layout.hpp"
#include "transport/transport.hpp"

namespace sorrel::mpi {

class SendQueue;
class World;

/// One or several packets to one endpoint; part of the object that causes them.
struct PendingSend {
  /// Sends what has not been sent; false if the transport is full: it is called again. After true
  /// the queue does not touch the object any more. Must not call SendQueue::send().
  bool (*send)(PendingSend& self, SendQueue& send_queue, Endpoint to);
  PendingSend* next;
};

class SendQueue {
 public:
  SendQueue(World& world, core::Worker& worker);
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

  [[nodiscard]] World& world() const { return world_; }

  [[nodiscard]] core::Worker& worker() const { return worker_; }

  /// One packet, at once; false if it would have to wait.
  [[nodiscard]] bool try_send(Endpoint to, const transport::Packet& packet, const void* payload) {
    return destination_of(to).first == nullptr && try_send_next(to, packet, payload);
  }

  /// Sends it, now or later.
  void send(Endpoint to, PendingSend& pending_send);

  /// One packet with a number for its payload, now or later.
  void post(Endpoint to, const transport::Packet& packet, std::uint64_t payload);

  /// For PendingSend::send(), called for the first of a queue.
  [[nodiscard]] bool try_send_next(Endpoint to,
                                   const transport::Packet& packet,
                                   const void* payload);

  /// Retries until the queues are empty, or for drain_ns_max: at the end of the worker.
  void drain();

  /// Whether all packets have left.
  [[nodiscard]] bool is_empty() const { return waiting_destination_count_ == 0; }

  /// The destinations with pending sends are counted right, and a retry is due while there are any.
  void check_invariants() const;

  static constexpr std::int64_t drain_ns_max = 1'000'000'000;

 private:
  [[nodiscard]] bool try_send_traced(Endpoint to,
                                     const transport::Packet& packet,
                                     const void* payload);

  struct Destination {
    PendingSend* first = nullptr;
    PendingSend* last = nullptr;
  };

  struct Retry : core::Timer {
    SendQueue* send_queue = nullptr;
  };

  Destination& destination_of(const Endpoint& to) { return destinations_[layout_.index_of(to)]; }

  [[nodiscard]] bool flush();
  void arm();

  World& world_;
  core::Worker& worker_;
  transport::Transport& transport_;
  const RankLayout layout_;
  std::vector<Destination> destinations_;
  /// Number of endpoints with pending sends.
  std::uint32_t waiting_destination_count_ = 0;
  Retry retry_;
  bool is_armed_ = false;
  /// Since the last flush() a packet has left, possibly one of several of a pending send.
  bool has_sent_ = false;
  std::int64_t delay_ns_ = 0;
};

}  // namespace sorrel::mpi
