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

}  // namespace sorrel::program::gpu
