//! The alignment that keeps fields of two threads on separate cache lines.
#pragma once

#include <cstddef>

namespace sorrel {

/// Bytes of a cache line on the supported CPUs (x86_64, aarch64). Fields of different writers are
/// this far apart.
inline constexpr std::size_t cache_line_bytes = 64;

}  // namespace sorrel
