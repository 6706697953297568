//! Copies of rows between host and device, issued in a stream. The context of the device is
//! current.
#pragma once

#include "device/copies.hpp"
#include "program/gpu/driver_api.hpp"

namespace sorrel::program::gpu {

/// Rows at equal distances are one copy, others a copy each.
[[nodiscard]] Result copy_rows(const device::Rows& rows,
                               device::Direction direction,
                               Stream stream);

/// Begins the copy in a stream of the current context, and adds the stream to `used`. False: there
/// is no stream (null), or the driver rejects the copy.
[[nodiscard]] bool begin_copy(const device::Rows& rows,
                              device::Direction direction,
                              const device::CopyStream& stream,
                              device::CopyStreams& used);

}  // namespace sorrel::program::gpu
