//! RankMemory - the memory that a rank has from the driver: where it lies, of which kind, how much.
//!
//! Kept by the calls that allocate and free, so that to know an address costs no call of the
//! driver. Any thread of the rank; never suspends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "program/gpu/driver_api.hpp"

namespace sorrel::program::gpu {

enum class MemoryKind : std::uint8_t {
  device,      ///< cuMemAlloc and its like, also from pools
  managed,     ///< the host reads and writes it, too
  pinned,      ///< of the host, allocated by the driver
  registered,  ///< of the host, made known to the driver
  imported,    ///< device memory of another process
  mapped,      ///< device memory at an address that the program has reserved
};

struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  Context context = nullptr;

  /// Whether the host cannot access it.
  [[nodiscard]] bool is_on_device() const {
    return kind == MemoryKind::device || kind == MemoryKind::imported || kind == MemoryKind::mapped;
  }
};

class RankMemory {
 public:
  void add(const Allocation& allocation);

  /// Whether an allocation began at `begin`.
  bool remove(std::uintptr_t begin);

  /// Forgets all maps that begin in [begin, begin + bytes).
  void remove_maps(std::uintptr_t begin, std::size_t bytes);

  /// The allocation that holds the address.
  [[nodiscard]] std::optional<Allocation> find(std::uintptr_t address) const;

  /// The first allocation on a device that has bytes of [begin, end).
  [[nodiscard]] std::optional<Allocation> find_on_device(std::uintptr_t begin,
                                                         std::uintptr_t end) const;

  /// Whether [begin, end) lies in one allocation on a device, or in maps without a gap between.
  [[nodiscard]] bool holds_on_device(std::uintptr_t begin, std::uintptr_t end) const;

  /// Takes out all of a context.
  [[nodiscard]] std::vector<Allocation> take_all_of(Context context);

  /// Bytes on devices. Any thread, at any time.
  [[nodiscard]] std::uint64_t bytes_in_use() const {
    return in_use_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t bytes_most() const { return most_.load(std::memory_order_relaxed); }

 private:
  void count(const Allocation& allocation, bool is_added);

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Allocation> all_;
  // Relaxed: for reports. Written with the lock.
  std::atomic<std::uint64_t> in_use_{0};
  std::atomic<std::uint64_t> most_{0};
};

}  // namespace sorrel::program::gpu
