#include "transport/host/host_streams.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/check.hpp"
#include "base/copy_bytes.hpp"
#include "os/thread.hpp"
#include "transport/host/host_wait.hpp"

namespace sorrel::transport {

/// A shipment, chunk by chunk. Chunks leave, and arrive, in order.
class HostStreams::Stream {
 public:
  Stream(HostStreams& all,
         Direction direction,
         std::uint32_t first_slot,
         const core::JobStop::Shipment& shipment)
      : all_(all), direction_(direction), first_slot_(first_slot), shipment_(shipment) {
    for (const os::MemoryRange& range : shipment.memory)
      left_ += range.end - range.begin;
  }

  [[nodiscard]] bool is_over() const { return left_ == 0 && began_ == ended_; }

  /// Begins chunks, and ends those that are done.
  void progress() {
    while (left_ != 0 && began_ - ended_ < depth)
      begin_chunk();
    while (began_ != ended_ && all_.api_.is_long_done(all_.host_, slot_of(ended_)) != 0)
      end_chunk();
  }

 private:
  [[nodiscard]] int slot_of(std::uint32_t chunk) const {
    return static_cast<int>(first_slot_ + chunk % depth);
  }

  void begin_chunk() {
    const std::size_t bytes = std::min(left_, chunk_bytes);
    const int slot = slot_of(began_);
    std::byte* const at = all_.buffer(static_cast<std::uint32_t>(slot));
    const auto process = static_cast<int>(shipment_.process);
    bytes_[began_ % depth] = bytes;
    if (direction_ == Direction::out) {
      copy(at, bytes);
      all_.api_.send_long(all_.host_, slot, at, static_cast<int>(bytes), process);
    } else {
      all_.api_.receive_long(all_.host_, slot, at, static_cast<int>(bytes), process);
    }
    left_ -= bytes;
    ++began_;
  }

  void end_chunk() {
    if (direction_ == Direction::in)
      copy(all_.buffer(static_cast<std::uint32_t>(slot_of(ended_))), bytes_[ended_ % depth]);
    ++ended_;
  }

  /// Copies between a buffer and the next bytes of the ranges.
  void copy(std::byte* at, std::size_t bytes) {
    while (bytes != 0) {
      const os::MemoryRange& range = shipment_.memory[range_];
      const std::uintptr_t begin = range.begin + done_;
      const std::size_t part = std::min<std::size_t>(bytes, range.end - begin);
      auto* const memory = reinterpret_cast<std::byte*>(begin);
      if (direction_ == Direction::out) {
        copy_bytes(at, memory, part);
      } else {
        copy_bytes(memory, at, part);
      }
      at += part;
      bytes -= part;
      done_ += part;
      if (begin + part == range.end) {
        ++range_;
        done_ = 0;
      }
    }
  }

  HostStreams& all_;
  const Direction direction_;
  const std::uint32_t first_slot_;
  const core::JobStop::Shipment& shipment_;
  /// Bytes of which no chunk has begun.
  std::size_t left_ = 0;
  /// The next bytes that are copied.
  std::size_t range_ = 0;
  std::size_t done_ = 0;
  /// Chunks; they wrap around.
  std::uint32_t began_ = 0;
  std::uint32_t ended_ = 0;
  std::array<std::size_t, depth> bytes_{};
};

HostStreams::HostStreams(const sorrel_host_api& api, void* host)
    : api_(api), host_(host), memory_(new std::byte[2 * width * depth * chunk_bytes]) {
  api.reserve_long(host, static_cast<int>(2 * width * depth));
}

/// The first stream that is not over, in the order of (sender, receiver), is among the first of
/// both of its processes: so it is active, and comes to its end.
void HostStreams::run(std::span<const core::JobStop::Shipment> sent,
                      std::span<const core::JobStop::Shipment> awaited) {
  std::array<std::optional<Stream>, 2 * width> active;
  std::array<std::span<const core::JobStop::Shipment>, 2> waiting{sent, awaited};
  wait_until([&] {
    bool is_over = true;
    for (std::uint32_t i = 0; i < active.size(); ++i) {
      std::optional<Stream>& stream = active[i];
      auto& next = waiting[i / width];
      if (!stream && !next.empty()) {
        stream.emplace(*this, i < width ? Direction::out : Direction::in, i * depth, next.front());
        next = next.subspan(1);
      }
      if (!stream) continue;
      stream->progress();
      if (stream->is_over()) stream.reset();
      is_over = is_over && !stream && next.empty();
    }
    return is_over;
  });
}

}  // namespace sorrel::transport
