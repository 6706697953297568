#include "program/gpu/row_copies.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "program/gpu/driver_api.hpp"

namespace sorrel::program::gpu {

namespace {

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

}  // namespace

bool begin_copy(const device::Rows& rows,
                device::Direction direction,
                const device::CopyStream& stream,
                device::CopyStreams& used) {
  if (stream.stream == nullptr) return false;
  if (std::ranges::find(used, stream.stream, &device::CopyStream::stream) == used.end())
    used.push_back(stream);
  return copy_rows(rows, direction, stream.stream) == success;
}

}  // namespace sorrel::program::gpu
