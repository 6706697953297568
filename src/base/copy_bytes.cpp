#include "base/copy_bytes.hpp"

#include <atomic>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace sorrel {

namespace {

constexpr std::size_t line_bytes = 64;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The sanitizers check the C library's copy.
constexpr bool is_checked_copy = true;
#else
constexpr bool is_checked_copy = false;
#endif

template <std::size_t size>
using Vector [[gnu::vector_size(size)]] = char;

/// Copies four vectors. All are read first, and they are written in the order of their addresses:
/// a processor joins stores to the same line only if they follow each other.
template <class Vec>
[[gnu::always_inline]] inline void copy_four(std::byte* to, const std::byte* from) {
  constexpr std::size_t size = sizeof(Vec);
  Vec first;
  Vec second;
  Vec third;
  Vec fourth;
  std::memcpy(&first, from, size);
  std::memcpy(&second, from + size, size);
  std::memcpy(&third, from + 2 * size, size);
  std::memcpy(&fourth, from + 3 * size, size);
  // Only the compiler's order.
  const auto keep_order = [] [[gnu::always_inline]] {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  };
  keep_order();
  std::memcpy(to, &first, size);
  keep_order();
  std::memcpy(to + size, &second, size);
  keep_order();
  std::memcpy(to + 2 * size, &third, size);
  keep_order();
  std::memcpy(to + 3 * size, &fourth, size);
  keep_order();
}

/// The first four vectors, then fours of them from a line of the target on, then the last four.
template <class Vec>
[[gnu::always_inline]] inline void copy_loop(void* target, const void* source, std::size_t bytes) {
  constexpr std::size_t step = 4 * sizeof(Vec);
  auto* const to = static_cast<std::byte*>(target);
  const auto* const from = static_cast<const std::byte*>(source);
  const std::size_t last = bytes - step;
  copy_four<Vec>(to, from);
  std::size_t at = line_bytes - reinterpret_cast<std::uintptr_t>(to) % line_bytes;
  for (; at < last; at += step)
    copy_four<Vec>(static_cast<std::byte*>(__builtin_assume_aligned(to + at, line_bytes)),
                   from + at);
  copy_four<Vec>(to + last, from + last);
}

void copy_by_16(void* target, const void* source, std::size_t bytes) {
  copy_loop<Vector<16>>(target, source, bytes);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void copy_by_32(void* target, const void* source, std::size_t bytes) {
  copy_loop<Vector<32>>(target, source, bytes);
}

[[gnu::target("avx512f,avx512bw")]] void copy_by_64(void* target,
                                                    const void* source,
                                                    std::size_t bytes) {
  copy_loop<Vector<64>>(target, source, bytes);
}
#endif

}  // namespace

CopyWidth copy_width() {
#if defined(__x86_64__)
  // Processors with vectors of 64 bytes and without this extension lower their clock for them.
  if (__builtin_cpu_supports("avx512vbmi2")) return CopyWidth::bytes64;
  if (__builtin_cpu_supports("avx2")) return CopyWidth::bytes32;
#endif
  return CopyWidth::bytes16;
}

void copy_by([[maybe_unused]] CopyWidth width,
             void* target,
             const void* source,
             std::size_t bytes) {
  SORREL_ASSERT(bytes >= long_copy_bytes);
#if defined(__x86_64__)
  if (width == CopyWidth::bytes64) return copy_by_64(target, source, bytes);
  if (width == CopyWidth::bytes32) return copy_by_32(target, source, bytes);
#endif
  copy_by_16(target, source, bytes);
}

void copy_long(void* target, const void* source, std::size_t bytes) {
  if constexpr (is_checked_copy) {
    std::memcpy(target, source, bytes);
  } else if (bytes >= past_caches_bytes) {
    copy_past_caches(target, source, bytes);
  } else {
    copy_by(copy_width(), target, source, bytes);
  }
}

void copy_past_caches(void* target, const void* source, std::size_t bytes) {
#if defined(__x86_64__)
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(to) % line_bytes;
  if (is_checked_copy || bytes < before + line_bytes) {
    std::memcpy(target, source, bytes);
    return;
  }
  std::memcpy(to, from, before);
  std::size_t at = before;
  for (; at + line_bytes <= bytes; at += line_bytes) {
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
