//! DeviceMemory - the allocations of the fake device.
//!
//! A device address is a map without any right, so that an access by the host ends the process as
//! on a real device; a second map of the same pages is what copies and kernels use. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace fake_cuda {

enum class Kind { device, pinned, registered, managed };

struct Allocation {
  Kind kind;
  std::size_t bytes;
  std::size_t mapped_bytes;
  std::byte* host;  ///< what the host, copies and kernels use
  void* context;    ///< that was current when it was allocated
};

class DeviceMemory {
 public:
  /// Null: no memory is left.
  void* allocate(Kind kind, std::size_t bytes, void* context);
  bool register_host(void* address, std::size_t bytes);
  bool free(void* address, bool is_pinned, bool is_registered);

  /// Where the host finds an address of a device; the address itself if it is no device's.
  [[nodiscard]] std::byte* host(std::uintptr_t address);

  [[nodiscard]] bool find(std::uintptr_t address, std::uintptr_t& begin, Allocation& found);
  [[nodiscard]] long live_bytes(bool is_of_device);
  [[nodiscard]] std::size_t capacity() const;

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, Allocation> all_;
  std::size_t device_bytes_ = 0;
};

}  // namespace fake_cuda
