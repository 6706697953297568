//! EagerWindows - credit for sending eagerly to an endpoint of another process.
//!
//! One per worker, its thread only. Every ordered pair of endpoints has a window: the bytes of
//! eager messages, as allocated in the receiver's pool, that are in flight or not received. The
//! receiver returns credit in batches. Without credit a message is sent as an RTS
//! (match/remote.hpp), so no sender waits for a window.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/comm/world.hpp"
#include "mpi/net/remote_message.hpp"
#include "mpi/net/send_queue.hpp"

namespace sorrel::mpi {

class EagerWindows {
 public:
  explicit EagerWindows(SendQueue& send_queue);

  /// Bytes of the receiver's pool that a message of this size takes.
  static std::uint32_t cost_of(std::size_t bytes) {
    const std::size_t buffer =
        std::max(remote_header_bytes + bytes, core::MessagePool::buffer_bytes_min);
    return static_cast<std::uint32_t>(std::bit_ceil(buffer));
  }

  /// Whether a message of `bytes` may be sent eagerly.
  [[nodiscard]] bool has_room(Endpoint to, std::size_t bytes, std::uint32_t cost) {
    const Window& window = at(to);
    return bytes <= window.message_bytes_max && window.room >= cost;
  }

  void take(Endpoint to, std::uint32_t cost) {
    SORREL_ASSERT(at(to).room >= cost);
    at(to).room -= cost;
  }

  /// Receiver: a message of that cost is in the user's buffer.
  void give_back(Endpoint from, std::uint32_t cost);

  /// Sender: the receiver has returned credit.
  void add(Endpoint to, std::uint32_t bytes) {
    SORREL_ASSERT(bytes <= window_bytes_ - at(to).room, "more credit than messages were sent");
    at(to).room += bytes;
  }

  [[nodiscard]] std::uint32_t window_bytes() const { return window_bytes_; }

  /// Space to pack one eager message.
  [[nodiscard]] std::byte* packing_space() const { return packing_space_.get(); }

 private:
  struct Window : PendingSend {
    EagerWindows* windows = nullptr;
    /// The longest message that is sent there eagerly.
    std::uint32_t message_bytes_max = 0;
    std::uint32_t room = 0;  ///< Credit granted to this worker.
    std::uint32_t owed = 0;  ///< Credit to be returned by this worker.
    bool is_queued = false;
  };

  Window& at(const Endpoint& endpoint) {
    SORREL_ASSERT(endpoint.process != send_queue_.world().own_process());
    return windows_[send_queue_.world().layout().index_of(endpoint)];
  }

  SendQueue& send_queue_;
  std::uint32_t window_bytes_;
  std::vector<Window> windows_;
  std::unique_ptr<std::byte[]> packing_space_;
};

}  // namespace sorrel::mpi
