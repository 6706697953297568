//! Sha256 - the hash function SHA-256 (FIPS 180-4, 6.2), and hmac_sha256(), a code of a text that
//! only a holder of the key can compute (RFC 2104).
//!
//! Any thread; no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace sorrel {

class Sha256 {
 public:
  static constexpr std::size_t digest_bytes = 32;
  static constexpr std::size_t block_bytes = 64;
  using Digest = std::array<std::uint8_t, digest_bytes>;

  void add(const void* data, std::size_t bytes);

  /// The digest of all that was added. Nothing may be added afterwards.
  [[nodiscard]] Digest finish();

 private:
  void take_block(const std::uint8_t* block);

  /// Square roots of the first eight primes: the first 32 bits of their fractions.
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, block_bytes> rest_{};
  std::uint64_t byte_count_ = 0;
};

/// The code of the parts one after the other. A key has at most Sha256::block_bytes bytes.
[[nodiscard]] Sha256::Digest hmac_sha256(std::span<const std::uint8_t> key,
                                         std::span<const std::string_view> parts);

}  // namespace sorrel
