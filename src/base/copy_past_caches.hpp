//! A copy that bypasses the caches, for long data that is not read soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sorrel {

/// As memcpy(), but writes the target directly to memory, and leaves it in no cache. The target's
/// lines need not be read first, as for writes to a cache. Faster from some pages on.
inline void copy_past_caches(void* target, const void* source, std::size_t bytes) {
#if defined(__x86_64__)
  constexpr std::size_t line = 64;
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(to) % line;
  if (bytes < before + line) {
    std::memcpy(target, source, bytes);
    return;
  }
  std::memcpy(to, from, before);
  std::size_t at = before;
  for (; at + line <= bytes; at += line) {
    __m128i part[4];
    for (std::size_t i = 0; i < 4; ++i)
      part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at) + i);
    for (std::size_t i = 0; i < 4; ++i)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at) + i, part[i]);
  }
  // Non-temporal stores are unordered with later stores, which may publish the data.
  _mm_sfence();
  std::memcpy(to + at, from + at, bytes - at);
#else
  std::memcpy(target, source, bytes);
#endif
}

}  // namespace sorrel
