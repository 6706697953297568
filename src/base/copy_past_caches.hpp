//! A copy that leaves the caches to others: for long data that nobody reads soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sorrel {

/// As memcpy(), but the target goes to memory and is in no cache afterwards; lines of it need not
/// be read first, as those that are written in a cache. Worth it from some pages on.
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
  // Such stores are in no order with others, which may say that the data is there.
  _mm_sfence();
  std::memcpy(to + at, from + at, bytes - at);
#else
  std::memcpy(target, source, bytes);
#endif
}

}  // namespace sorrel
