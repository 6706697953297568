//! copy_bytes() - the copy of program data: messages, operands, windows, packed types, files,
//! pools, blocks of heaps.
//!
//! The ranges must not overlap, except that they may be equal. Nothing outside of them is read or
//! written. No function suspends, locks, allocates, or has state; any thread may call.
//!
//! From long_copy_bytes on, a loop of the library's own copies, by the widest vectors that pay on
//! this processor. The C library may use `rep movsb` for so many bytes, which on some processors
//! takes thirty times as long where (target - source) mod 4096 is 1 to 31 (Zen 3 and Zen 4 with
//! glibc 2.36, glibc's bug 30994). Blocks of one heap often lie so. The loop has the same speed at
//! every alignment, within a third.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.hpp"

namespace sorrel {

/// Below this the C library copies; up to 64 bytes are moved without a call.
inline constexpr std::size_t long_copy_bytes = 2048;

/// From here on a copy is written past the caches: source and target together exceed the cache
/// that a core may use, so that the target's first lines would be gone before its last are written.
inline constexpr std::size_t past_caches_bytes = std::size_t{16} << 20;

/// Bytes of a vector of the loop.
enum class CopyWidth : std::uint8_t { bytes16 = 16, bytes32 = 32, bytes64 = 64 };

/// The widest vectors that pay on this processor: those of 64 bytes only where they do not lower
/// the clock. Constant from the start of the library on; bytes16 before.
[[nodiscard]] CopyWidth copy_width();

/// `bytes` is at least long_copy_bytes, `width` at most copy_width().
void copy_by(CopyWidth width, void* target, const void* source, std::size_t bytes);

/// copy_bytes() of at least long_copy_bytes.
void copy_long(void* target, const void* source, std::size_t bytes);

/// As copy_bytes(), but writes the target directly to memory, and leaves it in no cache: for data
/// that is not read soon. The target's lines need not be read first, as for writes to a cache.
void copy_past_caches(void* target, const void* source, std::size_t bytes);

struct Bytes16 {
  std::uint64_t low;
  std::uint64_t high;
};

/// Copies `bytes` bytes with two moves of a Word, which may overlap.
template <class Word>
inline void copy_overlapping(void* target, const void* source, std::size_t bytes) {
  SORREL_ASSERT(bytes >= sizeof(Word) && bytes <= 2 * sizeof(Word));
  Word head;
  Word tail;
  const std::size_t last = bytes - sizeof(Word);
  std::memcpy(&head, source, sizeof(Word));
  std::memcpy(&tail, static_cast<const std::byte*>(source) + last, sizeof(Word));
  std::memcpy(target, &head, sizeof(Word));
  std::memcpy(static_cast<std::byte*>(target) + last, &tail, sizeof(Word));
}

inline void copy_bytes(void* target, const void* source, std::size_t bytes) {
  if (bytes == 8) {
    std::memcpy(target, source, 8);
  } else if (bytes > 64) [[likely]] {
    if (bytes < long_copy_bytes) {
      std::memcpy(target, source, bytes);
    } else {
      copy_long(target, source, bytes);
    }
  } else if (bytes >= 32) {
    const std::size_t last = bytes - 32;
    copy_overlapping<Bytes16>(target, source, 32);
    copy_overlapping<Bytes16>(static_cast<std::byte*>(target) + last,
                              static_cast<const std::byte*>(source) + last, 32);
  } else if (bytes >= 16) {
    copy_overlapping<Bytes16>(target, source, bytes);
  } else if (bytes >= 8) {
    copy_overlapping<std::uint64_t>(target, source, bytes);
  } else if (bytes >= 4) {
    copy_overlapping<std::uint32_t>(target, source, bytes);
  } else if (bytes >= 2) {
    copy_overlapping<std::uint16_t>(target, source, bytes);
  } else if (bytes == 1) {
    *static_cast<std::byte*>(target) = *static_cast<const std::byte*>(source);
  }
}

}  // namespace sorrel
