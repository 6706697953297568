//! The size that keeps two threads' fields apart.
#pragma once

#include <cstddef>

namespace sorrel {

/// Bytes of a cache line on the CPUs we run on (x86_64, aarch64). Fields of different writers stand
/// this far apart.
inline constexpr std::size_t cache_line_bytes = 64;

}  // namespace sorrel
