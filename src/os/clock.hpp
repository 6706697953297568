//! The monotonic clock, sleeping by it, and the CPU time of this process.
#pragma once

#include <cstdint>

namespace sorrel::os {

/// Nanoseconds of the monotonic clock; never jumps; its zero is arbitrary.
std::int64_t monotonic_ns();

/// CPU time of all threads of this process, in nanoseconds.
std::int64_t process_cpu_ns();

/// Suspends the calling thread for this duration, or until a signal arrives.
void sleep_ns(std::int64_t duration_ns);

}  // namespace sorrel::os
