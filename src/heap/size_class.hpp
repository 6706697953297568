//! Size classes of blocks in two levels: a row for each power of two, equal steps within a row
//! (TLSF: Masmano, Ripoll, Crespo, Real, "TLSF: a new dynamic memory allocator for real-time
//! systems", 2004). Row 0 has all sizes below 1 KiB, in steps of 16 bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "heap/block.hpp"

namespace sorrel::heap {

inline constexpr std::size_t exact_bytes_end = 1024;
inline constexpr std::size_t exact_class_count = exact_bytes_end / block_alignment;
inline constexpr int exact_bits = 10;
/// Steps in a row behind the first: at most 1/16 of a power of two is lost in a block.
inline constexpr int step_bits = 4;
inline constexpr std::size_t step_count = std::size_t{1} << step_bits;
/// Blocks are smaller than this.
inline constexpr int block_bits_max = 37;
inline constexpr std::size_t row_count = block_bits_max - exact_bits + 1;
inline constexpr std::size_t class_count = exact_class_count + (row_count - 1) * step_count;

struct SizeClass {
  std::size_t row;
  std::size_t step;

  [[nodiscard]] std::size_t number() const {
    return row == 0 ? step : exact_class_count + (row - 1) * step_count + step;
  }
};

/// The class of a block of `size` bytes.
[[nodiscard]] inline SizeClass class_of(std::size_t size) {
  if (size < exact_bytes_end) return {0, size / block_alignment};
  const int bits = static_cast<int>(std::bit_width(size)) - 1;
  return {static_cast<std::size_t>(bits - exact_bits + 1),
          (size >> (bits - step_bits)) & (step_count - 1)};
}

/// The smallest size not below `size` that is the least of its class.
[[nodiscard]] constexpr std::size_t rounded_to_class(std::size_t size) {
  if (size < exact_bytes_end) return size;
  const std::size_t unit = std::size_t{1}
                           << (static_cast<int>(std::bit_width(size)) - 1 - step_bits);
  return (size + unit - 1) & ~(unit - 1);
}

/// The size of the block for a request: header, alignment, minimum.
[[nodiscard]] constexpr std::size_t block_bytes_for(std::size_t bytes) {
  const std::size_t rounded = (bytes + header_bytes + block_alignment - 1) & ~(block_alignment - 1);
  return std::max(rounded, block_bytes_min);
}

/// Blocks up to this size are those of their class, and are cached when they are freed.
inline constexpr std::size_t cached_size_max = std::size_t{32} << 10;

/// The size of the block that serves a request: that of its class as long as blocks are cached,
/// then a multiple of line_alignment.
[[nodiscard]] constexpr std::size_t serving_size_for(std::size_t bytes) {
  const std::size_t size = block_bytes_for(bytes);
  return size <= cached_size_max ? rounded_to_class(size)
                                 : (size + line_alignment - 1) & ~(line_alignment - 1);
}

/// Blocks from this size on serve requests of line_request_min bytes and more. Their sizes are
/// multiples of line_alignment, so blocks that follow each other are aligned without gaps.
inline constexpr std::size_t line_size_min = serving_size_for(line_request_min);
static_assert(line_size_min % line_alignment == 0 &&
              line_size_min > block_bytes_for(line_request_min) - block_alignment);

/// What the payload of a block in use of `size` bytes is aligned to.
[[nodiscard]] constexpr std::size_t alignment_of(std::size_t size) {
  return size < line_size_min ? block_alignment : line_alignment;
}

}  // namespace sorrel::heap
