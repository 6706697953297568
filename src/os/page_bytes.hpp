//! The sizes of the system's pages.
#pragma once

#include <cstddef>
#include <unistd.h>

namespace sorrel::os {

/// Size of large pages where small ones have 4 KiB.
inline constexpr std::size_t large_page_bytes = std::size_t{2} << 20;

/// Rounds up to whole large pages.
[[nodiscard]] constexpr std::size_t large_pages_up(std::size_t bytes) {
  return (bytes + large_page_bytes - 1) / large_page_bytes * large_page_bytes;
}

/// Rounds down to whole large pages.
[[nodiscard]] constexpr std::size_t large_pages_down(std::size_t bytes) {
  return bytes / large_page_bytes * large_page_bytes;
}

/// Size of small pages. Safe in signal handlers.
[[nodiscard]] inline std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace sorrel::os
