#include "base/crc32c.hpp"

#include <array>
#include <cstring>

namespace sorrel {

namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  // reflected
constexpr std::size_t word_bytes = 8;

/// tables[k][b]: the check of byte b with k zero bytes behind it ("slicing by 8", Kounavis and
/// Berry, 2005).
using Tables = std::array<std::array<std::uint32_t, 256>, word_bytes>;

constexpr Tables tables = [] {
  Tables made{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit)
      value = (value & 1) != 0 ? value >> 1 ^ polynomial : value >> 1;
    made[0][byte] = value;
  }
  for (std::size_t k = 1; k < word_bytes; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte)
      made[k][byte] = made[k - 1][byte] >> 8 ^ made[0][made[k - 1][byte] & 255];
  }
  return made;
}();

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] std::uint32_t by_instruction(const unsigned char* data,
                                                       std::size_t bytes,
                                                       std::uint32_t before) {
  std::uint64_t value = ~before;
  for (; bytes >= word_bytes; bytes -= word_bytes, data += word_bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, data, word_bytes);
    value = __builtin_ia32_crc32di(value, word);
  }
  auto rest = static_cast<std::uint32_t>(value);
  for (; bytes != 0; --bytes)
    rest = __builtin_ia32_crc32qi(rest, *data++);
  return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(const void* data, std::size_t bytes, std::uint32_t before) {
  const auto* next = static_cast<const unsigned char*>(data);
  std::uint32_t value = ~before;
  for (; bytes >= word_bytes; bytes -= word_bytes, next += word_bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < word_bytes; ++i) {
      const std::uint32_t mixed = i < 4 ? next[i] ^ (value >> (8 * i) & 255) : next[i];
      sum ^= tables[word_bytes - 1 - i][mixed];
    }
    value = sum;
  }
  for (; bytes != 0; --bytes)
    value = value >> 8 ^ tables[0][(value ^ *next++) & 255];
  return ~value;
}

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2"))
    return by_instruction(static_cast<const unsigned char*>(data), bytes, before);
#endif
  return crc32c_by_table(data, bytes, before);
}

}  // namespace sorrel
