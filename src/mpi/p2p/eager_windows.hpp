//! EagerWindows - how much may be sent to a place of another process before anybody there asks for
//! it.
//!
//! One per worker, its thread only. Every ordered pair of places has a window: the bytes of eager
//! messages, as they stand in the receiver's pool, that are under way or not yet received. The
//! receiver gives room back in batches. Without room a message is announced only (remote.hpp), so
//! nobody waits for a window.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/outlet.hpp"
#include "mpi/p2p/remote_message.hpp"
#include "mpi/world.hpp"

namespace sorrel::mpi {

class EagerWindows {
 public:
  explicit EagerWindows(Outlet& outlet);

  /// What a message of this size takes of the receiver's pool.
  static std::uint32_t cost_of(std::size_t bytes) {
    const std::size_t buffer =
        std::max(remote_header_bytes + bytes, core::MessagePool::buffer_bytes_min);
    return static_cast<std::uint32_t>(std::bit_ceil(buffer));
  }

  /// Whether a message of `bytes` may go there eagerly.
  [[nodiscard]] bool has_room(Endpoint to, std::size_t bytes, std::uint32_t cost) {
    const Window& window = at(to);
    return bytes <= window.message_bytes_max && window.room >= cost;
  }

  void take(Endpoint to, std::uint32_t cost) { at(to).room -= cost; }

  /// Receiver: a message of that cost is in its buffer.
  void give_back(Endpoint from, std::uint32_t cost);

  /// Sender: the receiver has given back.
  void add(Endpoint to, std::uint32_t bytes) { at(to).room += bytes; }

  [[nodiscard]] std::uint32_t window_bytes() const { return window_bytes_; }

  /// Space to pack one eager message in.
  [[nodiscard]] std::byte* packing_space() const { return packing_space_.get(); }

 private:
  struct Window : Outgoing {
    EagerWindows* windows = nullptr;
    /// The longest message that goes there eagerly.
    std::uint32_t message_bytes_max = 0;
    std::uint32_t room = 0;  ///< Granted to us.
    std::uint32_t owed = 0;  ///< To be given back by us.
    bool is_under_way = false;
  };

  Window& at(const Endpoint& endpoint) {
    return windows_[outlet_.world().layout().index_of(endpoint)];
  }

  Outlet& outlet_;
  std::uint32_t window_bytes_;
  std::vector<Window> windows_;
  std::unique_ptr<std::byte[]> packing_space_;
};

}  // namespace sorrel::mpi
