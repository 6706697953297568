//! TransferUnits - how the data of a partitioned message is divided into messages.
//!
//! A unit is a range of the packed data that contains whole partitions of the sender and whole
//! elements of the receiver, so each side describes it by a buffer, a count and its datatype. Small
//! partitions share a unit. A pure function of what both sides know: they compute the same units.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace sorrel::mpi {

struct TransferUnits {
  /// A unit has at least so many bytes, if there is more than one.
  static constexpr std::size_t coalesced_bytes_min = 4096;
  static constexpr std::size_t count_max = 1024;

  /// Packed size of all units but the last, which may be smaller.
  std::size_t bytes = 0;
  /// At least one.
  std::size_t count = 1;

  /// `total_bytes` is a multiple of `partition_bytes`, the packed size of a partition of the
  /// sender. `element_bytes` is the packed size of an element of the receiver.
  [[nodiscard]] static TransferUnits of(std::size_t total_bytes,
                                        std::size_t partition_bytes,
                                        std::size_t element_bytes) {
    const TransferUnits one{.bytes = total_bytes, .count = 1};
    if (partition_bytes == 0 || element_bytes == 0) return one;
    std::size_t step = partition_bytes / std::gcd(partition_bytes, element_bytes);
    if (__builtin_mul_overflow(step, element_bytes, &step) || step >= total_bytes) return one;
    const std::size_t wanted = std::max(coalesced_bytes_min, divided_up(total_bytes, count_max));
    const std::size_t bytes = divided_up(wanted, step) * step;
    if (bytes >= total_bytes) return one;
    return {.bytes = bytes, .count = divided_up(total_bytes, bytes)};
  }

  /// The unit that contains the byte.
  [[nodiscard]] std::size_t unit_of(std::size_t byte) const {
    return count == 1 ? 0 : std::min(byte / bytes, count - 1);
  }

 private:
  static std::size_t divided_up(std::size_t value, std::size_t by) {
    return value / by + (value % by != 0 ? 1 : 0);
  }
};

}  // namespace sorrel::mpi
