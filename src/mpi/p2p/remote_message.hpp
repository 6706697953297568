//! What both sides of a message between processes keep of it. Inside of p2p only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/outlet.hpp"
#include "mpi/p2p/request.hpp"

namespace sorrel::mpi {

/// An unexpected message from another process. Its `request` is the world's stand-in for a remote
/// sender.
struct RemoteMessage : Message {
  Endpoint from;
  /// The data is in `payload`, in a buffer of the pool with this message; else with the sender.
  bool is_copy = false;
  /// The copy is on its way.
  bool is_arriving = false;
  /// What to give back to the sender's window.
  std::uint32_t cost = 0;
  /// The receive that has matched it while it was arriving.
  Request* matched = nullptr;
};

inline constexpr std::size_t remote_header_bytes = (sizeof(RemoteMessage) + 15) / 16 * 16;

/// The payload of a notice: where the data is.
struct DataAtSender {
  std::uint64_t token;  ///< Names the send to its own process.
  std::uint64_t address;
  std::uint64_t bytes;
  /// A standard send of a size that programs expect to be buffered.
  std::uint32_t may_copy;
  std::uint32_t unused;
};

/// An unexpected message whose data is with the sender.
struct AnnouncedMessage : RemoteMessage {
  DataAtSender data;
};

/// The receiving side of data that is on its way.
struct ArrivingData {
  Request* receive;        ///< Null when it goes into a copy:
  RemoteMessage* message;  ///< this one.
  std::byte* target;
  std::byte* unpacked_from;  ///< Where the data comes together when the receive's type has gaps.
  std::size_t bytes;
  std::size_t arrived_bytes;
};

/// Data that may be read from its sender's memory at a certain time.
struct PulledData : core::Timer {
  ArrivingData arriving;
  World* world;
  Outlet* outlet;
  Endpoint from;
  DataAtSender data;
};

/// A send whose data stays here until it is read or pushed, or that waits for room to leave.
struct RemoteSend : Outgoing {
  Request* request;
  /// Of the destination, in the job.
  std::int32_t destination;
  const std::byte* data;
  std::size_t bytes;
  /// Our copy of data with gaps.
  std::byte* packed;
  /// Answers that must come before the request is complete: one, and one more to a cancel.
  std::uint32_t awaited_count = 1;
  // Once it is clear to send.
  std::uint64_t receiver_token;
  std::size_t push_bytes;
  std::size_t pushed_bytes;
};

/// The sending side's part of set_message_handlers().
void set_send_handlers(transport::Transport& transport, World& world);

}  // namespace sorrel::mpi
