//! Durations of the C library, in nanoseconds.
#pragma once

#include <cstdint>
#include <ctime>

namespace sorrel::program {

inline constexpr std::int64_t ns_per_second = 1'000'000'000;

/// Whether it is a duration: not negative, with a fraction below one second.
[[nodiscard]] inline bool is_duration(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < ns_per_second;
}

[[nodiscard]] inline std::int64_t to_ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * ns_per_second + time.tv_nsec;
}

}  // namespace sorrel::program
