//! StartGate - whether balancing is worth to begin: times in which workers slept
//! while others had ready ranks.
//!
//! Pure: times are given. README.md has the constants and their reasons.
#pragma once

#include <cstdint>

namespace sorrel::balance {

/// Such times, in sum.
inline constexpr std::int64_t wasted_ns_min = 50'000'000;
/// And this part of the time.
inline constexpr std::int64_t wasted_part = 10;
/// After so long, time and waits count half.
inline constexpr std::int64_t start_window_ns = 1'000'000'000;

class StartGate {
 public:
  explicit StartGate(std::int64_t now_ns = 0) : since_ns_(now_ns) {}

  /// Such a time of `wasted_ns`, which ends at `now_ns`. Whether to begin.
  [[nodiscard]] bool record(std::int64_t wasted_ns, std::int64_t now_ns) {
    if (now_ns - since_ns_ > start_window_ns) {
      since_ns_ = now_ns - (now_ns - since_ns_) / 2;
      wasted_ns_ /= 2;
    }
    wasted_ns_ += wasted_ns;
    return wasted_ns_ >= wasted_ns_min && wasted_ns_ * wasted_part >= now_ns - since_ns_;
  }

 private:
  std::int64_t since_ns_;
  std::int64_t wasted_ns_ = 0;
};

}  // namespace sorrel::balance
