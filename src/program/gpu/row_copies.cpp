#include "program/gpu/row_copies.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/check.hpp"
#include "program/gpu/driver_api.hpp"

namespace sorrel::program::gpu {

namespace {

/// No device copies a rectangle whose rows are further apart.
constexpr std::int64_t pitch_max = std::numeric_limits<std::int32_t>::max();

enum class Place : std::uint8_t { host, device };

/// Where rows come from, or go to.
struct Side {
  Place place;
  std::uintptr_t address;
  std::int64_t stride;

  [[nodiscard]] std::uintptr_t row(std::size_t i) const {
    return address + static_cast<std::uintptr_t>(static_cast<std::int64_t>(i) * stride);
  }

  [[nodiscard]] bool has_pitch(std::size_t bytes) const {
    return stride >= static_cast<std::int64_t>(bytes) && stride <= pitch_max;
  }

  [[nodiscard]] RectangleCopy::Side of_rectangle() const {
    RectangleCopy::Side side{
        .memory_type = place == Place::host ? RectangleCopy::of_host : RectangleCopy::of_device,
        .pitch = static_cast<std::size_t>(stride)};
    if (place == Place::host) {
      side.host = reinterpret_cast<const void*>(address);
    } else {
      side.device = address;
    }
    return side;
  }
};

struct SidedRows {
  Side from;
  Side to;
  std::size_t bytes;
  std::size_t count;
};

Result copy_row(const SidedRows& rows, std::size_t i, Stream stream) {
  SORREL_ASSERT(rows.from.place == Place::device || rows.to.place == Place::device,
                "a copy within the memory of the host");
  const std::uintptr_t from = rows.from.row(i);
  const std::uintptr_t to = rows.to.row(i);
  if (rows.to.place == Place::host)
    return driver().cuMemcpyDtoHAsync_v2(reinterpret_cast<void*>(to), from, rows.bytes, stream);
  if (rows.from.place == Place::host)
    return driver().cuMemcpyHtoDAsync_v2(to, reinterpret_cast<const void*>(from), rows.bytes,
                                         stream);
  return driver().cuMemcpyDtoDAsync_v2(to, from, rows.bytes, stream);
}

Result copy_rows(const SidedRows& rows, Stream stream) {
  if (rows.count > 1 && rows.from.has_pitch(rows.bytes) && rows.to.has_pitch(rows.bytes)) {
    const RectangleCopy copied{.source = rows.from.of_rectangle(),
                               .target = rows.to.of_rectangle(),
                               .width_bytes = rows.bytes,
                               .height = rows.count};
    return driver().cuMemcpy2DAsync_v2(&copied, stream);
  }
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (const Result result = copy_row(rows, i, stream); result != success) return result;
  }
  return success;
}

bool begin(const SidedRows& rows, const device::CopyStream& stream, device::CopyStreams& used) {
  if (stream.stream == nullptr) return false;
  if (std::ranges::find(used, stream.stream, &device::CopyStream::stream) == used.end())
    used.push_back(stream);
  return copy_rows(rows, stream.stream) == success;
}

}  // namespace

bool begin_copy(const device::Rows& rows,
                device::Direction direction,
                const device::CopyStream& stream,
                device::CopyStreams& used) {
  const Side host{.place = Place::host,
                  .address = reinterpret_cast<std::uintptr_t>(rows.host),
                  .stride = rows.host_stride};
  const Side on_device{
      .place = Place::device, .address = rows.device, .stride = rows.device_stride};
  const bool is_to_host = direction == device::Direction::to_host;
  return begin({.from = is_to_host ? on_device : host,
                .to = is_to_host ? host : on_device,
                .bytes = rows.bytes,
                .count = rows.count},
               stream, used);
}

bool begin_copy(const device::DeviceRows& rows,
                const device::CopyStream& stream,
                device::CopyStreams& used) {
  return begin({.from = {Place::device, rows.from, rows.from_stride},
                .to = {Place::device, rows.to, rows.to_stride},
                .bytes = rows.bytes,
                .count = rows.count},
               stream, used);
}

bool begin_update(std::span<const device::Rows> rows,
                  device::HostStep& step,
                  bool is_written,
                  const device::CopyStream& stream,
                  device::CopyStreams& used) {
  const auto copy_all = [&](device::Direction direction) {
    return std::ranges::all_of(rows, [&](const device::Rows& copied) {
      return begin_copy(copied, direction, stream, used);
    });
  };
  const auto run = [](void* data) { static_cast<device::HostStep*>(data)->run(); };
  return driver().cuLaunchHostFunc != nullptr && copy_all(device::Direction::to_host) &&
         driver().cuLaunchHostFunc(stream.stream, run, &step) == success &&
         (!is_written || copy_all(device::Direction::to_device));
}

}  // namespace sorrel::program::gpu
