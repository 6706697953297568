//! The libraries of a device's driver, by their names: CUDA's.
#pragma once

#include <string_view>

namespace sorrel::os {

/// Whether the library of this name or path belongs to a device's driver, which has one state for
/// all ranks of a process.
[[nodiscard]] bool is_device_driver(std::string_view path);

}  // namespace sorrel::os
