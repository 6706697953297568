//! HostHeader - the header of every packet of transport/host and its encoding. Small numbers, the
//! usual case, take 8 bytes, because a short message that fits a cache line with all headers is
//! faster by a third.
//!
//! Pure. Both sides have the same byte order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.hpp"

namespace sorrel::transport {

struct HostHeader {
  std::uint32_t kind = 0;
  /// Credits that the sender gives back.
  std::uint32_t credits = 0;
  std::uint32_t from_worker = 0;
  std::uint32_t to_worker = 0;
  std::array<std::uint32_t, 4> words{};

  friend bool operator==(const HostHeader&, const HostHeader&) = default;
};

inline constexpr std::size_t host_header_bytes_max = 32;

namespace host_header_detail {

/// The lowest two bits of the first byte select the width of all eight numbers.
template <class Number>
std::size_t write(const HostHeader& header, std::uint32_t form, std::byte* target) {
  const std::array<Number, 8> numbers = {
      static_cast<Number>(header.kind << 2 | form), static_cast<Number>(header.credits),
      static_cast<Number>(header.from_worker),      static_cast<Number>(header.to_worker),
      static_cast<Number>(header.words[0]),         static_cast<Number>(header.words[1]),
      static_cast<Number>(header.words[2]),         static_cast<Number>(header.words[3])};
  std::memcpy(target, numbers.data(), sizeof numbers);
  return sizeof numbers;
}

template <class Number>
std::size_t read(const std::byte* source, HostHeader& header) {
  std::array<Number, 8> numbers;
  std::memcpy(numbers.data(), source, sizeof numbers);
  header = {.kind = std::uint32_t{numbers[0]} >> 2,
            .credits = numbers[1],
            .from_worker = numbers[2],
            .to_worker = numbers[3],
            .words = {numbers[4], numbers[5], numbers[6], numbers[7]}};
  return sizeof numbers;
}

}  // namespace host_header_detail

/// Encodes a header and returns its length, a multiple of 8.
inline std::size_t write_header(const HostHeader& header, std::byte* target) {
  using host_header_detail::write;
  SORREL_ASSERT(header.kind < 64, "six bits hold the kind of a packet");
  const std::uint32_t all = header.credits | header.from_worker | header.to_worker |
                            header.words[0] | header.words[1] | header.words[2] | header.words[3];
  if (all < 1u << 8) return write<std::uint8_t>(header, 0, target);
  if (all < 1u << 16) return write<std::uint16_t>(header, 1, target);
  return write<std::uint32_t>(header, 2, target);
}

/// Decodes a header and returns its length.
inline std::size_t read_header(const std::byte* source, HostHeader& header) {
  using host_header_detail::read;
  switch (std::to_integer<std::uint32_t>(source[0]) & 3) {
    case 0:
      return read<std::uint8_t>(source, header);
    case 1:
      return read<std::uint16_t>(source, header);
    default:
      return read<std::uint32_t>(source, header);
  }
}

}  // namespace sorrel::transport
