//! Packets between processes: their kinds, and the helpers to fill their words.
#pragma once

#include <cstdint>

#include "trace/packet_kind.hpp"
#include "transport/transport.hpp"

namespace sorrel::mpi {

using trace::number_of;
using trace::PacketKind;

constexpr std::uint32_t low_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}

constexpr std::uint32_t high_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

constexpr std::uint64_t joined(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

}  // namespace sorrel::mpi
