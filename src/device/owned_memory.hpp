//! OwnedMemory - what one rank has on devices, as other ranks of its process and its worker reach
//! it: the memory of windows.
//!
//! program/gpu implements it. It stays as long as the rank. Any thread of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/copies.hpp"

namespace sorrel::device {

/// How a caller waits for copies.
enum class Waiting : std::uint8_t {
  suspending,  ///< in a rank: its worker runs others
  blocking,    ///< outside of ranks: the driver's own wait
};

/// Called once behind copies, on a thread of the driver's: must not wait, nor call the driver.
class HostStep {
 public:
  virtual void run() = 0;

 protected:
  ~HostStep() = default;
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

  /// Waits for what was begun in these streams so far. False: a copy has failed. May suspend, if
  /// `waiting` says so.
  [[nodiscard]] virtual bool finish(const CopyStreams& used, Waiting waiting) = 0;

  /// Begins what replaces elements: copies of `rows` to the host, behind them step.run(), behind
  /// that, with `is_written`, copies of the rows to the device. The next update of the memory
  /// begins when this one is over: it is atomic, without a lock that is held meanwhile. False: the
  /// driver rejects a part of it; `step` may run all the same, before finish() returns.
  [[nodiscard]] virtual bool update(std::span<const Rows> rows,
                                    HostStep& step,
                                    bool is_written,
                                    CopyStreams& used) = 0;
};

}  // namespace sorrel::device
