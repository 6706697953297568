//! KeyedHash - two numbers of any amount of bytes. Without the key no two texts with equal numbers
//! can be found; the numbers themselves are no code, and go into one (base/sha256.hpp).
//!
//! NH of each KiB (Black, Halevi, Krawczyk, Krovetz, Rogaway, "UMAC: fast and secure message
//! authentication", 1999, with words of 64 bits), and polynomials of the results modulo 2^61 - 1 at
//! two secret points. Two texts of up to 2^40 bytes that differ have equal numbers for a part of
//! 2^-55 of the keys at most. Any thread; no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sorrel {

class KeyedHash {
 public:
  using Numbers = std::array<std::uint64_t, 2>;

  /// At most Sha256::block_bytes bytes.
  explicit KeyedHash(std::span<const std::uint8_t> key);

  void add(const void* data, std::size_t bytes);

  /// The numbers of all that was added, in whatever parts. Nothing may be added afterwards.
  [[nodiscard]] Numbers finish();

 private:
  static constexpr std::size_t block_bytes = 1024;
  static constexpr std::size_t word_count = block_bytes / sizeof(std::uint64_t);

  void take_block(const std::byte* block);
  void take_word(std::uint32_t word);

  std::array<std::uint64_t, word_count> words_{};
  Numbers points_{};
  Numbers sums_{};
  std::array<std::byte, block_bytes> rest_{};
  std::uint64_t byte_count_ = 0;
};

}  // namespace sorrel
