//! Prng - a small seeded random generator for schedules and tests (not for cryptography).
//!
//! One owner at a time. Source: SplitMix64, Steele, Lea, Flood, "Fast splittable pseudorandom
//! number generators", 2014.
#pragma once

#include <cstdint>

namespace sorrel {

class Prng {
 public:
  explicit constexpr Prng(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  /// A value in [0, bound); the bias is below bound / 2^64. bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace sorrel
