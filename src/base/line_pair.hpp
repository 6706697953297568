//! LinePair - memory that belongs to one writer: two cache lines.
//!
//! Processors of x86_64 fetch a line together with its neighbour, so two threads that write to both
//! lines of a pair wait for each other, as those that write to one line do.
#pragma once

#include <array>
#include <cstddef>

#include "base/cache_line.hpp"

namespace sorrel {

struct alignas(2 * cache_line_bytes) LinePair {
  std::array<std::byte, 2 * cache_line_bytes> bytes;
};

/// How many pairs hold so many bytes.
[[nodiscard]] constexpr std::size_t line_pairs(std::size_t bytes) {
  return (bytes + sizeof(LinePair) - 1) / sizeof(LinePair);
}

}  // namespace sorrel
