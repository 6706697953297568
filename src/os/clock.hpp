//! The monotonic clock, waiting for it, and the time that this process has run.
#pragma once

#include <cstdint>

namespace sorrel::os {

/// Nanoseconds of the monotonic clock; never jumps, starts anywhere.
std::int64_t monotonic_ns();

/// Nanoseconds that the threads of this process have run, together.
std::int64_t process_cpu_ns();

/// The calling thread sleeps so long; less when a signal comes.
void sleep_ns(std::int64_t duration_ns);

}  // namespace sorrel::os
