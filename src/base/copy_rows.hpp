//! copy_rows() - copies rows of bytes that lie at equal distances. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/copy_bytes.hpp"

namespace sorrel {

/// Rows of one side of a copy: the first one, and the distance from each to the next in bytes.
template <class Byte>
struct SpacedRows {
  Byte* first;
  std::int64_t stride;
};

/// Rows of `size` bytes each, or of `bytes` where `size` is 0.
template <std::size_t size>
void copy_rows_of(SpacedRows<std::byte> to,
                  SpacedRows<const std::byte> from,
                  std::int64_t count,
                  std::size_t bytes) {
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (size == 0) {
      copy_bytes(to.first, from.first, bytes);
    } else {
      std::memcpy(to.first, from.first, size);
    }
    to.first += to.stride;
    from.first += from.stride;
  }
}

/// Copies `count` rows of `bytes` bytes. Single values, such as a face across the contiguous
/// dimension has, are one move each.
inline void copy_rows(SpacedRows<std::byte> to,
                      SpacedRows<const std::byte> from,
                      std::int64_t count,
                      std::size_t bytes) {
  switch (bytes) {
    case 4:
      return copy_rows_of<4>(to, from, count, bytes);
    case 8:
      return copy_rows_of<8>(to, from, count, bytes);
    case 16:
      return copy_rows_of<16>(to, from, count, bytes);
    default:
      return copy_rows_of<0>(to, from, count, bytes);
  }
}

}  // namespace sorrel
