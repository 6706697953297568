//! Whether the kernel supports guard pages without a mapping of their own (MADV_GUARD_INSTALL,
//! Linux 6.13). Tested at each call, since it may be forbidden or emulated.
#pragma once

namespace sorrel::os {

[[nodiscard]] bool has_guard_install();

}  // namespace sorrel::os
