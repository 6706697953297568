//! ClockWatch - what is called when the program's own code reads a clock of the C library.
#pragma once

#include <cstdint>

namespace sorrel::runtime {

/// Any thread; the latest one stays. `on_read(now_ns)` runs in the rank that has read the time
/// `now_ns` of any clock, and may suspend.
void watch_clock_reads(void (*on_read)(std::int64_t now_ns));

}  // namespace sorrel::runtime
