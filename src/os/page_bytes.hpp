//! page_bytes - the size of the system's small pages.
#pragma once

#include <cstddef>
#include <unistd.h>

namespace sorrel::os {

/// Safe in signal handlers.
[[nodiscard]] inline std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace sorrel::os
