//! Messenger - carries the messages of a graph. over_mpi.hpp has the one for MPI.
//!
//! A graph adds its channels before its first step and reuses them in every step; each channel has
//! at most one message in progress. All calls come from the thread or rank that called run().
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include <sorrel/require_cxx20.hpp>

namespace sorrel::graph {

/// A message of a send or receive family, of the steps that use one channel.
struct Message {
  /// The peer, by the numbers of the messenger.
  int peer = 0;
  /// Distinguishes messages between the same two ranks: 0 <= tag <= tag_max. Both ends use the same
  /// tag.
  int tag = 0;
  /// The bytes. Both ends have equally many.
  std::span<std::byte> bytes;

  /// Number of repetitions of the preceding runs, and the distance in bytes between two of them.
  struct Repeat {
    std::ptrdiff_t count = 1;         ///< how often
    std::ptrdiff_t stride_bytes = 0;  ///< from one to the next
  };

  /// Strided bytes: `bytes` is the first run, the innermost repeat comes first.
  std::array<Repeat, 3> repeats{};
};

/// The largest tag of a message. Twice this, with room for the tags of reductions, is at most MPI's
/// least upper bound of tags.
inline constexpr int tag_max = 16'000;

/// Number of reductions over ranks that a graph may have; their tags follow after tag_max.
inline constexpr int rank_reduction_count_max = 383;

/// Whether a channel sends or receives.
enum class Direction { send, receive };

/// Carries the messages of a graph; derive from it for another transport than MPI.
class Messenger {
 public:
  /// With its graph.
  virtual ~Messenger() = default;

  /// Any thread. Never suspends.
  ///
  /// @return the number of peers, which are numbered from 0
  [[nodiscard]] virtual int peer_count() const { return std::numeric_limits<int>::max(); }

  /// Any thread. Never suspends.
  ///
  /// @return the number of the calling rank among its peers; -1: not known, and the graph can have
  /// no reductions over ranks
  [[nodiscard]] virtual int rank() const { return -1; }

  /// Adds a channel. Peer, tag and parity name a queue between two ranks, whose messages are
  /// received in the order in which they were sent. Several channels may belong to one queue.
  ///
  /// @param direction whether it sends or receives
  /// @param message its peer, tag and bytes
  /// @param parity 0 or 1: the step modulo 2
  /// @return the number of the channel; they are numbered from 0
  virtual int add(Direction direction, const Message& message, int parity) = 0;

  /// Both ends return the same. The argument is a peer.
  ///
  /// @return whether messages to that peer stay on this machine: their only cost is then the copy,
  /// and one copy is best
  [[nodiscard]] virtual bool is_near(int /*peer*/) const { return false; }

  /// Starts the next message of a channel. Never suspends.
  ///
  /// @param channel its number, by add()
  virtual void start(int channel) = 0;

  /// As start(), for a message whose end is awaited by no task and no later step: poll() and wait()
  /// may report it after all others.
  ///
  /// @param channel its number, by add()
  virtual void start_unawaited(int channel) { start(channel); }

  /// Finds the channels whose message has completed. Never suspends.
  ///
  /// @param ended their numbers are written here
  /// @return how many were written; at most the size of `ended`
  virtual int poll(std::span<int> ended) = 0;

  /// As poll(), but waits for at least one, which must have been started. May suspend.
  ///
  /// @param ended their numbers are written here
  /// @return how many were written, at least 1
  virtual int wait(std::span<int> ended) = 0;

  /// Removes all channels; messages in progress are abandoned.
  virtual void clear() = 0;
};

}  // namespace sorrel::graph
