//! CycleClock - durations on the cycle counter, for uses where reading a clock takes too long.
//!
//! Constant after construction, which takes 20 us to calibrate the counter; any thread may read.
//! Accurate to about 1 %: for deciding how long to spin, not for measuring.
#pragma once

#include <cstdint>

#include "arch/cpu.hpp"
#include "os/clock.hpp"

namespace sorrel::core {

class CycleClock {
 public:
  CycleClock() {
    const std::int64_t began_ns = os::monotonic_ns();
    const std::uint64_t began = arch::cycles();
    std::int64_t elapsed_ns = 0;
    while (elapsed_ns < measured_ns)
      elapsed_ns = os::monotonic_ns() - began_ns;
    cycles_per_ns_ = static_cast<double>(arch::cycles() - began) / static_cast<double>(elapsed_ns);
  }

  /// The largest duration: for ever.
  [[nodiscard]] std::uint64_t cycles_in(std::int64_t duration_ns) const {
    const double cycles = static_cast<double>(duration_ns) * cycles_per_ns_;
    return cycles < 0x1p63 ? static_cast<std::uint64_t>(cycles) : ~std::uint64_t{0};
  }

  [[nodiscard]] double ns_in(std::uint64_t cycles) const {
    return static_cast<double>(cycles) / cycles_per_ns_;
  }

 private:
  static constexpr std::int64_t measured_ns = 20'000;

  double cycles_per_ns_;
};

}  // namespace sorrel::core
