//! What the interposed clocks call after a read by the program's own code.
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::program {

using ClockWatch = void (*)(std::int64_t now_ns);

/// Null: nothing. Relaxed: a function, which is constant.
inline std::atomic<ClockWatch> clock_watch{nullptr};

}  // namespace sorrel::program
