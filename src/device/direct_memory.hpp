//! DirectMemory - what one rank has on devices, where other ranks of its process send it messages
//! from a device: the data is copied on the device, and the message is complete when the copy is.
//!
//! program/gpu implements it. It stays as long as the rank. Any thread of the process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/owned_memory.hpp"

namespace sorrel::device {

/// `count` rows of `bytes` each, within a device.
struct DeviceRows {
  std::uintptr_t from;
  std::uintptr_t to;
  std::size_t bytes;
  std::size_t count;
  std::int64_t from_stride;
  std::int64_t to_stride;
};

/// Called once when copies are over, on the worker that has begun them, in a fiber or not: must not
/// suspend. `is_good`: none has failed.
class CopyEnd {
 public:
  virtual void end(bool is_good) = 0;

 protected:
  ~CopyEnd() = default;
};

class DirectMemory : public OwnedMemory {
 public:
  /// Whether copy_from() reaches `theirs`, in the memory of `source`, from `own`: both are in one
  /// context of the driver.
  [[nodiscard]] virtual bool is_near(std::uintptr_t own,
                                     DirectMemory& source,
                                     std::uintptr_t theirs) = 0;

  /// Begins a copy to this memory in a stream of its rank, which it adds to `used`. False: the
  /// driver rejects the copy.
  [[nodiscard]] virtual bool copy_from(const DeviceRows& rows, CopyStreams& used) = 0;

  /// Has `end` called when the copies that were begun in these streams so far are over. On the
  /// thread of a worker. Never suspends.
  virtual void finish_later(const CopyStreams& used, CopyEnd& end) = 0;
};

/// What Buffers::owned() has returned, for messages between ranks of a process. Null: the rank has
/// no memory on a device, or is its process.
[[nodiscard]] inline DirectMemory* direct_part_of(OwnedMemory* memory) {
  return dynamic_cast<DirectMemory*>(memory);
}

}  // namespace sorrel::device
