//! Messenger - how the messages of a graph travel. over_mpi.hpp has the one for MPI.
//!
//! A graph adds its channels before its first step and then uses them again in every step; each has
//! one message under way at most. All calls come from the thread or rank that called run().
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

namespace sorrel::graph {

/// One message of a send or receive family: what is said once, for all steps of a kind.
struct Message {
  /// The rank at the other end, in the messenger's words.
  int peer = 0;
  /// Tells messages between the same two ranks apart: 0 <= tag <= tag_max. Both ends say the same.
  int tag = 0;
  /// Where the bytes are. Both ends have equally many.
  std::span<std::byte> bytes;

  /// How often all before is there again, and how many bytes further each time.
  struct Repeat {
    std::ptrdiff_t count = 1;
    std::ptrdiff_t stride_bytes = 0;
  };

  /// Bytes that do not lie together: `bytes` is the first run, the innermost repeat comes first.
  std::array<Repeat, 2> repeats{};
};

/// Tags twice this are within MPI's least upper bound.
inline constexpr int tag_max = 16'000;

enum class Direction { send, receive };

class Messenger {
 public:
  virtual ~Messenger() = default;

  /// Peers are 0 to peer_count() - 1.
  [[nodiscard]] virtual int peer_count() const { return std::numeric_limits<int>::max(); }

  /// A channel, numbered from 0; `lane` is 0 or 1 and, with peer and tag, tells channels apart.
  virtual int add(Direction direction, const Message& message, int lane) = 0;

  /// Whether what goes to a rank does not leave the machine: then it is worth its copies only, and
  /// those are best made in one. Both ends say the same.
  [[nodiscard]] virtual bool is_near(int /*peer*/) const { return false; }

  /// Starts the channel's next message. Never suspends.
  virtual void start(int channel) = 0;

  /// Channels whose message has ended, written to `ended`; how many. Never suspends.
  virtual int poll(std::span<int> ended) = 0;

  /// The same, but at least one, which must have been started. May suspend.
  virtual int wait(std::span<int> ended) = 0;

  /// Forgets all channels; messages under way are given up.
  virtual void clear() = 0;
};

}  // namespace sorrel::graph
