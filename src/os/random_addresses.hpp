//! Whether the system has put libraries and stacks of this process at random addresses.
#pragma once

namespace sorrel::os {

/// Any thread; one system call.
[[nodiscard]] bool has_random_addresses();

}  // namespace sorrel::os
