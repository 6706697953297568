//! The monotonic clock.
#pragma once

#include <cstdint>

namespace sorrel::os {

/// Nanoseconds of the monotonic clock; never jumps, starts anywhere.
std::int64_t monotonic_ns();

}  // namespace sorrel::os
