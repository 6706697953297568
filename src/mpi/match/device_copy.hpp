//! DeviceCopy - a copy from one typed buffer in the memory of a device to another one there,
//! between ranks of a process.
//!
//! Rows that both datatypes have alike are one copy of the driver. Any thread of the process; never
//! suspends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/direct_memory.hpp"
#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

/// A typed buffer in the memory of a device.
struct DeviceData {
  std::uintptr_t address;
  std::size_t count;
  const Datatype* type;
};

/// Whether the memory has one allocation with all of it. The count is not 0.
[[nodiscard]] bool holds(device::DirectMemory& memory, const DeviceData& data);

/// Whether both buffers are there, in one context of the driver.
[[nodiscard]] bool is_within_device(const DeviceData& from,
                                    device::DirectMemory& source,
                                    const DeviceData& to,
                                    device::DirectMemory& target);

/// Begins the copy of the first `bytes` bytes of both packed streams, in streams of the target's
/// rank, which it adds to `used`; is_within_device() holds. False: the driver rejects a part of it.
[[nodiscard]] bool begin_copy_within_device(const DeviceData& from,
                                            const DeviceData& to,
                                            device::DirectMemory& target,
                                            std::size_t bytes,
                                            device::CopyStreams& used);

}  // namespace sorrel::mpi
