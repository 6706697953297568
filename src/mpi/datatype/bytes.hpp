//! Copies of few bytes without a call: for small messages and the blocks of derived types.
//!
//! Two overlapping moves cover every length between a power of two and its double. The ranges must
//! not overlap, except that they may be equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.hpp"

namespace sorrel::mpi {

struct Bytes16 {
  std::uint64_t low;
  std::uint64_t high;
};

/// Copies `size` bytes with two moves of a Word.
template <class Word>
inline void copy_overlapping(void* to, const void* from, std::size_t size) {
  SORREL_ASSERT(size >= sizeof(Word) && size <= 2 * sizeof(Word));
  Word head;
  Word tail;
  const std::size_t last = size - sizeof(Word);
  std::memcpy(&head, from, sizeof(Word));
  std::memcpy(&tail, static_cast<const std::byte*>(from) + last, sizeof(Word));
  std::memcpy(to, &head, sizeof(Word));
  std::memcpy(static_cast<std::byte*>(to) + last, &tail, sizeof(Word));
}

inline void copy_bytes(void* to, const void* from, std::size_t size) {
  if (size == 8) {
    std::memcpy(to, from, 8);
  } else if (size > 64) [[likely]] {
    std::memcpy(to, from, size);
  } else if (size >= 32) {
    const std::size_t last = size - 32;
    copy_overlapping<Bytes16>(to, from, 32);
    copy_overlapping<Bytes16>(static_cast<std::byte*>(to) + last,
                              static_cast<const std::byte*>(from) + last, 32);
  } else if (size >= 16) {
    copy_overlapping<Bytes16>(to, from, size);
  } else if (size >= 8) {
    copy_overlapping<std::uint64_t>(to, from, size);
  } else if (size >= 4) {
    copy_overlapping<std::uint32_t>(to, from, size);
  } else if (size >= 2) {
    copy_overlapping<std::uint16_t>(to, from, size);
  } else if (size == 1) {
    *static_cast<std::byte*>(to) = *static_cast<const std::byte*>(from);
  }
}

}  // namespace sorrel::mpi
