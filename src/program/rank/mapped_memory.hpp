//! MappedMemory - which ranks have mapped writable memory by themselves (mmap, mprotect, sbrk).
//!
//! One bit for each rank, or for each 1024th: where a bit is set, one of them has. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sorrel::program {

class MappedMemory {
 public:
  static void note(int rank) {
    // Relaxed: read while the rank does not run.
    word_of(rank).fetch_or(bit_of(rank), std::memory_order_relaxed);
  }

  [[nodiscard]] static bool has_any(int rank) {
    return (word_of(rank).load(std::memory_order_relaxed) & bit_of(rank)) != 0;
  }

 private:
  static constexpr std::size_t bits_per_word = 64;
  static constexpr std::size_t word_count = 16;

  static std::uint64_t bit_of(int rank) {
    return std::uint64_t{1} << static_cast<std::size_t>(rank) % bits_per_word;
  }

  static std::atomic<std::uint64_t>& word_of(int rank) {
    return words[static_cast<std::size_t>(rank) / bits_per_word % word_count];
  }

  static inline std::array<std::atomic<std::uint64_t>, word_count> words{};
};

}  // namespace sorrel::program
