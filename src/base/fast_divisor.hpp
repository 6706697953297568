//! FastDivisor - repeated division by a number that is fixed early.
//!
//! A multiplication replaces a division, which takes tens of cycles. Exact for all values. Any
//! thread. Source: Lemire, Kaser, Kurz, "Faster remainder by direct computation", 2019.
#pragma once

#include <cstdint>
#include <limits>

namespace sorrel {

class FastDivisor {
 public:
  /// divisor > 0.
  explicit constexpr FastDivisor(std::uint32_t divisor)
      : divisor_(divisor), reciprocal_(std::numeric_limits<std::uint64_t>::max() / divisor + 1) {}

  /// value / divisor, rounded down.
  [[nodiscard]] constexpr std::uint64_t quotient_of(std::uint64_t value) const {
    // The reciprocal of 1 does not fit; all other reciprocals are exact enough for 32 bits.
    if (divisor_ == 1) return value;
    if (value > std::numeric_limits<std::uint32_t>::max()) [[unlikely]]
      return value / divisor_;
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(reciprocal_) * value) >> 64);
  }

 private:
  std::uint32_t divisor_;
  std::uint64_t reciprocal_;
};

}  // namespace sorrel
