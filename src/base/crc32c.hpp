//! CRC32C - the cyclic redundancy check of Castagnoli, Bräuer and Herrmann (1993), polynomial
//! 0x1edc6f41 reflected, as in iSCSI (RFC 3720, B.4). Finds every error of at most 32 consecutive
//! bits, and every one of up to 5 bits in 650 bytes; of others it misses one in 2^32.
//!
//! Uses the processor's instruction where there is one. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel {

/// The check of `bytes` bytes that follow bytes whose check is `before`. Of nothing it is 0.
[[nodiscard]] std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before = 0);

/// As crc32c(), without the processor's instruction.
[[nodiscard]] std::uint32_t crc32c_by_table(const void* data,
                                            std::size_t bytes,
                                            std::uint32_t before = 0);

}  // namespace sorrel
