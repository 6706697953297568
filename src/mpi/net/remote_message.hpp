//! The state of a message between processes, on both sides, and its packet handlers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/match/request.hpp"
#include "mpi/net/send_queue.hpp"

namespace sorrel::mpi {

/// An unexpected message from another process. Its `request` is the world's placeholder for remote
/// senders.
struct RemoteMessage : Message {
  Endpoint from;
  /// The data is in `payload`, in a pool buffer with this message; else with the sender.
  bool is_copy = false;
  /// The copy is in transit.
  bool is_arriving = false;
  /// Credit to return to the sender's window.
  std::uint32_t cost = 0;
  /// The receive that has matched it while its data was in transit.
  Request* matched = nullptr;
};

inline constexpr std::size_t remote_header_bytes = (sizeof(RemoteMessage) + 15) / 16 * 16;

/// The payload of an RTS: the location of the data.
struct DataAtSender {
  std::uint64_t token;  ///< Identifies the send in its own process.
  std::uint64_t address;
  std::uint64_t bytes;
  /// A standard send of a size that programs expect to be buffered.
  std::uint32_t may_copy;
  std::uint32_t unused;
};

/// An unexpected message whose data is with the sender.
struct RendezvousMessage : RemoteMessage {
  DataAtSender data;
};

/// The receiving side of data in transit.
struct ArrivingData {
  RankState* rank;         ///< Counts it while it is in transit.
  Request* receive;        ///< Null for a copy, which is for:
  RemoteMessage* message;  ///< this one.
  std::byte* target;
  std::byte* unpacked_from;  ///< Space for the data if the receive's type has gaps.
  std::size_t bytes;
  std::size_t arrived_bytes;
};

/// Data to be read from its sender's memory at a certain time.
struct PulledData : core::Timer {
  ArrivingData arriving;
  World* world;
  SendQueue* send_queue;
  Endpoint from;
  DataAtSender data;
};

/// A send whose data stays here until it is read or pushed, or that waits in a send queue. Of the
/// first worker of its rank (relay.hpp), which alone accesses it, but for the calls.
struct RemoteSend : PendingSend {
  using Step = void (*)(RemoteSend& send, WorkerState& state);

  /// A call between the worker of a rank that is away and its first worker.
  struct Call : core::RemoteCall {
    RemoteSend* send = nullptr;
    Step step = nullptr;
  };

  Request* request;
  /// The destination's rank in the job.
  std::int32_t destination;
  const std::byte* data;
  std::size_t bytes;
  /// Packed copy of data with gaps.
  std::byte* packed;
  /// Answers that must come before the request is complete: one, and one more to a cancel.
  std::uint32_t awaited_count = 1;
  // Set when the CTS has come.
  std::uint64_t receiver_token;
  std::size_t push_bytes;
  std::size_t pushed_bytes;
  /// Its begin, and later its end.
  Call passage;
  // For the rank's worker: a cancel that is not back yet, and whether the send has ended meanwhile.
  Call cancel;
  bool is_cancel_away = false;
  bool has_ended = false;
};

/// Before the workers run: sets the handlers of the packets of messages.
void set_message_handlers(transport::Transport& transport, World& world);

/// The sending side of set_message_handlers().
void set_send_handlers(transport::Transport& transport, World& world);

}  // namespace sorrel::mpi
