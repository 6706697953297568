//! The monotonic clock, and waiting for it.
#pragma once

#include <cstdint>

namespace sorrel::os {

/// Nanoseconds of the monotonic clock; never jumps, starts anywhere.
std::int64_t monotonic_ns();

/// The calling thread sleeps so long; less when a signal comes.
void sleep_ns(std::int64_t duration_ns);

}  // namespace sorrel::os
