#include "program/gpu/message_buffers.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "device/buffers.hpp"
#include "program/gpu/device_wait.hpp"
#include "program/gpu/driver_api.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/rank/rank_process.hpp"
#include "program/state/outside_wait.hpp"

namespace sorrel::program::gpu {

namespace {

constexpr OutsideWait copy_wait{.call = "a copy of a message's buffer on the GPU",
                                .is_endless = true};

/// No device copies a rectangle whose rows are further apart.
constexpr std::int64_t pitch_max = std::numeric_limits<std::int32_t>::max();

Result copy_rectangle(const device::Rows& rows, device::Direction direction, Stream stream) {
  const RectangleCopy::Side host{.memory_type = RectangleCopy::of_host,
                                 .host = rows.host,
                                 .pitch = static_cast<std::size_t>(rows.host_stride)};
  const RectangleCopy::Side on_device{.memory_type = RectangleCopy::of_device,
                                      .device = rows.device,
                                      .pitch = static_cast<std::size_t>(rows.device_stride)};
  const bool is_to_host = direction == device::Direction::to_host;
  const RectangleCopy copied{.source = is_to_host ? on_device : host,
                             .target = is_to_host ? host : on_device,
                             .width_bytes = rows.bytes,
                             .height = rows.count};
  return driver().cuMemcpy2DAsync_v2(&copied, stream);
}

Result copy_row(std::byte* host,
                DevicePointer on_device,
                std::size_t bytes,
                device::Direction direction,
                Stream stream) {
  return direction == device::Direction::to_host
             ? driver().cuMemcpyDtoHAsync_v2(host, on_device, bytes, stream)
             : driver().cuMemcpyHtoDAsync_v2(on_device, host, bytes, stream);
}

Result copy_rows(const device::Rows& rows, device::Direction direction, Stream stream) {
  const auto is_pitch = [&rows](std::int64_t stride) {
    return stride >= static_cast<std::int64_t>(rows.bytes) && stride <= pitch_max;
  };
  if (rows.count > 1 && is_pitch(rows.host_stride) && is_pitch(rows.device_stride))
    return copy_rectangle(rows, direction, stream);
  for (std::size_t i = 0; i < rows.count; ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const Result result =
        copy_row(rows.host + row * rows.host_stride,
                 rows.device + static_cast<DevicePointer>(row * rows.device_stride), rows.bytes,
                 direction, stream);
    if (result != success) return result;
  }
  return success;
}

class MessageBuffers final : public device::Buffers {
 public:
  bool overlaps(std::uintptr_t begin, std::uintptr_t end) override {
    return find(begin, end).has_value();
  }

  bool holds(std::uintptr_t begin, std::uintptr_t end) override {
    RankGpu* gpu = known_gpu_of_caller();
    return gpu != nullptr && gpu->memory_table().holds_on_device(begin, end);
  }

  std::byte* take_host(std::size_t bytes, std::uintptr_t near) override {
    if (bytes > PinnedMemory::piece_bytes_max) return static_cast<std::byte*>(std::malloc(bytes));
    RankGpu* gpu = known_gpu_of_caller();
    if (gpu == nullptr) return nullptr;
    const auto found = gpu->memory_table().find(near);
    return gpu->pinned_memory().take(bytes, found ? found->context : ThreadContext::current());
  }

  void give_host(std::byte* memory, std::size_t bytes) override {
    if (bytes > PinnedMemory::piece_bytes_max) {
      std::free(memory);
    } else if (RankGpu* gpu = known_gpu_of_caller(); gpu != nullptr) {
      gpu->pinned_memory().give(memory);
    }
  }

  bool copy(const device::Rows& rows,
            device::Direction direction,
            device::CopyStreams& used) override {
    RankGpu* gpu = known_gpu_of_caller();
    if (gpu == nullptr) return false;
    const auto found = gpu->memory_table().find(rows.device);
    if (!found) return false;
    // Not across a switch to another rank, which expects the context of this one.
    ThreadContext thread;
    if (found->context != nullptr) thread.use(found->context);
    Context context = ThreadContext::current();
    Stream stream = gpu->streams().copy_stream();
    if (stream == nullptr) return false;
    if (std::ranges::find(used, stream, &device::CopyStream::stream) == used.end())
      used.push_back({.stream = stream, .context = context});
    return copy_rows(rows, direction, stream) == success;
  }

  bool finish(const device::CopyStreams& used) override {
    bool is_good = true;
    for (const device::CopyStream& copies : used) {
      const Awaited awaited{.stream = copies.stream, .context = copies.context};
      is_good &= wait_for(process_that_may_wait(nullptr), awaited, copy_wait) == success;
    }
    return is_good;
  }

 private:
  static std::optional<Allocation> find(std::uintptr_t begin, std::uintptr_t end) {
    RankGpu* gpu = known_gpu_of_caller();
    return gpu != nullptr ? gpu->memory_table().find_on_device(begin, end) : std::nullopt;
  }
};

}  // namespace

void give_message_buffers() {
  static MessageBuffers& of_ranks = *new MessageBuffers;
  device::give_buffers(of_ranks);
}

}  // namespace sorrel::program::gpu
