//! Buffers - the memory of devices as the bindings of MPI see it: whether addresses lie there, and
//! copies between it and memory of the host.
//!
//! program/gpu implements it, and sets it when a rank first allocates memory on a device. Ranks
//! without such memory pay nothing in calls of MPI: see runtime/device_ranks.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "device/copies.hpp"
#include "device/owned_memory.hpp"

namespace sorrel::device {

/// The memory of the calling rank. Called by the rank, or by a thread of it, in a call of MPI.
class Buffers {
 public:
  virtual ~Buffers() = default;

  /// Whether a byte of [begin, end) is in memory that the host cannot access.
  [[nodiscard]] virtual bool overlaps(std::uintptr_t begin, std::uintptr_t end) = 0;

  /// Whether all bytes of [begin, end) are in one allocation on a device.
  [[nodiscard]] virtual bool holds(std::uintptr_t begin, std::uintptr_t end) = 0;

  /// Memory of the host for copies to and from the allocation that holds `near`. Null: none is
  /// left.
  [[nodiscard]] virtual std::byte* take_host(std::size_t bytes, std::uintptr_t near) = 0;
  virtual void give_host(std::byte* memory, std::size_t bytes) = 0;

  /// Begins a copy in a stream, which it adds to `used`. False: the driver rejects the copy.
  [[nodiscard]] virtual bool copy(const Rows& rows, Direction direction, CopyStreams& used) = 0;

  /// Waits for the copies in these streams. False: a copy has failed. May suspend.
  [[nodiscard]] virtual bool finish(const CopyStreams& used) = 0;

  /// What the rank has, for others. Null: it has no memory on a device.
  [[nodiscard]] virtual OwnedMemory* owned() = 0;
};

// Relaxed: a rank that has memory on a device has set it, or was created later.
[[gnu::visibility("hidden")]] extern std::atomic<Buffers*> known_buffers;

[[nodiscard]] inline bool has_buffers() {
  return known_buffers.load(std::memory_order_relaxed) != nullptr;
}

/// has_buffers() must hold.
[[nodiscard]] inline Buffers& buffers() {
  return *known_buffers.load(std::memory_order_relaxed);
}

/// The calling rank, or the rank that has started the calling thread, has memory on a device. The
/// object stays until the process ends.
void give_buffers(Buffers& buffers);

/// What a process does whose ranks may have memory on a device.
struct Support {
  bool (*is_driver_found)() = nullptr;
  /// Called by give_buffers(), when has_buffers() holds.
  void (*note_rank)() = nullptr;
};

/// Called before ranks run.
void set_support(const Support& support);

/// Whether ranks of this process may have buffers on a device. Without set_support(): false.
[[nodiscard]] bool are_buffers_supported();

}  // namespace sorrel::device
