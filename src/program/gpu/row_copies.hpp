//! Copies of rows between host and device, and within a device, issued in a stream. The context of
//! the device is current.
#pragma once

#include <span>

#include "device/copies.hpp"
#include "device/direct_memory.hpp"

namespace sorrel::program::gpu {

/// Begins the copy in a stream of the current context, and adds the stream to `used`. Rows at equal
/// distances are one copy, others a copy each. False: there is no stream (null), or the driver
/// rejects the copy.
[[nodiscard]] bool begin_copy(const device::Rows& rows,
                              device::Direction direction,
                              const device::CopyStream& stream,
                              device::CopyStreams& used);
[[nodiscard]] bool begin_copy(const device::DeviceRows& rows,
                              const device::CopyStream& stream,
                              device::CopyStreams& used);

/// Begins the parts of OwnedMemory::update() in the stream. Nothing else must begin an update of
/// the memory meanwhile.
[[nodiscard]] bool begin_update(std::span<const device::Rows> rows,
                                device::HostStep& step,
                                bool is_written,
                                const device::CopyStream& stream,
                                device::CopyStreams& used);

}  // namespace sorrel::program::gpu
