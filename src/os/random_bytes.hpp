//! Random bytes of the kernel.
#pragma once

#include <cstddef>

namespace sorrel::os {

/// False: the kernel has none. At most 256 bytes.
[[nodiscard]] bool fill_random(void* to, std::size_t bytes);

}  // namespace sorrel::os
