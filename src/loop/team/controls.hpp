//! Controls - how many threads a loop may use now, and how long one that waits may spin.
//!
//! Written by whoever governs (core/governor), read at every loop entry: one line that is rarely
//! written. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"

namespace sorrel::loop {

struct alignas(cache_line_bytes) Controls {
  // Relaxed all: numbers by themselves; nothing is read through them.

  /// Threads of a loop, its caller included; at least 1.
  std::atomic<std::uint32_t> width{1};
  /// How long a helper without work, or a caller at its loop's end, looks on before it sleeps.
  std::atomic<std::int64_t> spin_ns{0};
  /// The same for a helper whose last two loops came within so much time, if it is longer.
  std::atomic<std::int64_t> patience_ns{0};
  /// Set by callers at loop entry unless it is set, cleared by the monitor: whether the process
  /// uses loops at all.
  std::atomic<bool> is_used{false};
};

}  // namespace sorrel::loop
