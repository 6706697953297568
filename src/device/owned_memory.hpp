//! OwnedMemory - what one rank has on devices, as other ranks of its process and its worker reach
//! it: the memory of windows.
//!
//! program/gpu implements it. It stays as long as the rank. Any thread of the process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/copies.hpp"

namespace sorrel::device {

/// How a caller waits for copies.
enum class Waiting : std::uint8_t {
  suspending,  ///< in a rank: its worker runs others
  blocking,    ///< with a lock, or outside of ranks: the driver's own wait
};

class OwnedMemory {
 public:
  virtual ~OwnedMemory() = default;

  /// Whether all bytes of [begin, end) are in one allocation of the rank on a device.
  [[nodiscard]] virtual bool holds(std::uintptr_t begin, std::uintptr_t end) = 0;

  /// Memory of the host for copies to and from the allocation that holds `near`. Null: none is
  /// left, or no allocation does.
  [[nodiscard]] virtual std::byte* take_host(std::size_t bytes, std::uintptr_t near) = 0;
  virtual void give_host(std::byte* memory, std::size_t bytes) = 0;

  /// Begins a copy in a stream, which it adds to `used`. False: the driver rejects the copy.
  [[nodiscard]] virtual bool copy(const Rows& rows, Direction direction, CopyStreams& used) = 0;

  /// Waits for the copies that were begun in these streams so far. False: a copy has failed. May
  /// suspend, if `waiting` says so.
  [[nodiscard]] virtual bool finish(const CopyStreams& used, Waiting waiting) = 0;
};

}  // namespace sorrel::device
