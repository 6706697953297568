#include "mpi/net/eager_windows.hpp"

#include <algorithm>

#include "mpi/comm/world.hpp"
#include "mpi/net/packet_words.hpp"

namespace sorrel::mpi {

namespace {

// Half of a pool, shared by all endpoints that may send here: pool <= 64 MiB + this.
constexpr std::uint32_t window_bytes_sum = std::uint32_t{32} << 20;
constexpr std::uint32_t window_bytes_max = std::uint32_t{1} << 20;
// Two messages of the largest size, for any number of endpoints.
constexpr std::uint32_t window_bytes_min = 2 * core::MessagePool::buffer_bytes_max;

}  // namespace

EagerWindows::EagerWindows(SendQueue& send_queue) : send_queue_(send_queue) {
  const World& world = send_queue.world();
  const RankLayout& layout = world.layout();
  const std::uint32_t remote_worker_count = layout.endpoint_count() - layout.worker_count();
  SORREL_ASSERT(remote_worker_count != 0, "a job of one process needs no windows");
  window_bytes_ =
      std::clamp(window_bytes_sum / remote_worker_count, window_bytes_min, window_bytes_max);
  windows_.resize(layout.endpoint_count());
  std::uint32_t longest = 0;
  for (std::uint32_t i = 0; i < windows_.size(); ++i) {
    Window& window = windows_[i];
    window.windows = this;
    window.message_bytes_max =
        std::min(world.transport()->payload_bytes_max(i / layout.worker_count()),
                 world.limits().eager_bytes_max);
    window.room = window_bytes_;
    longest = std::max(longest, window.message_bytes_max);
  }
  packing_space_ = std::make_unique_for_overwrite<std::byte[]>(longest);
}

void EagerWindows::give_back(Endpoint from, std::uint32_t cost) {
  Window& window = at(from);
  SORREL_ASSERT(cost <= window_bytes_ - window.owed, "credit for a message is returned twice");
  window.owed += cost;
  // A quarter: few packets, and the sender gets credit long before it has none.
  if (window.owed < window_bytes_ / 4 || window.is_queued) return;
  window.is_queued = true;
  window.send = [](PendingSend& self, SendQueue& send_queue, Endpoint to) {
    auto& sent = static_cast<Window&>(self);
    SORREL_ASSERT(sent.is_queued && sent.owed != 0);
    const transport::Packet packet{.kind = number_of(PacketKind::credit), .words = {sent.owed}};
    if (!send_queue.try_send_next(to, packet, nullptr)) return false;
    sent.owed = 0;
    sent.is_queued = false;
    return true;
  };
  send_queue_.send(from, window);
}

}  // namespace sorrel::mpi
