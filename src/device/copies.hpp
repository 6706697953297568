//! Copies between the memory of a device and of the host: what is copied, and where it is in
//! flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sorrel::device {

enum class Direction : std::uint8_t { to_host, to_device };

/// `count` rows of `bytes` each.
struct Rows {
  std::byte* host;
  std::uintptr_t device;
  std::size_t bytes;
  std::size_t count;
  std::int64_t host_stride;
  std::int64_t device_stride;
};

/// A stream of the driver that has copies in flight, and its context.
struct CopyStream {
  void* stream;
  void* context;
};

using CopyStreams = std::vector<CopyStream>;

}  // namespace sorrel::device
