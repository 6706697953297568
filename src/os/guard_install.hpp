//! Whether the kernel guards pages without a map of their own (MADV_GUARD_INSTALL, Linux 6.13).
//! Tried at each call, since it may be forbidden or emulated.
#pragma once

namespace sorrel::os {

[[nodiscard]] bool has_guard_install();

}  // namespace sorrel::os
