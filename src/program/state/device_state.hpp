//! DeviceState - what a rank has on GPUs, as its process sees it. Made at the rank's first use of a
//! driver (program/gpu); ranks without one have none.
#pragma once

#include <cstdint>

namespace sorrel::program {

/// Device memory of a rank, in bytes.
struct DeviceMemoryCount {
  std::uint64_t in_use = 0;
  std::uint64_t most = 0;
};

class DeviceState {
 public:
  virtual ~DeviceState() = default;

  /// At the rank's end: waits for its work on devices, and frees what it forgot. May suspend.
  virtual void end() = 0;

  /// Any thread.
  [[nodiscard]] virtual DeviceMemoryCount memory() const = 0;
};

}  // namespace sorrel::program
