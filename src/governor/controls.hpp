//! Controls - how many threads a loop may use now, and how long a waiting thread may spin.
//!
//! Written by the owner of the governor, read at every loop entry: one line that is
//! rarely written. Any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"
#include "core/cycle_clock.hpp"
#include "core/poll_limit.hpp"

namespace sorrel::governor {

struct alignas(cache_line_bytes) Controls {
  // All relaxed: independent numbers; nothing is read through them.

  /// Threads of a loop, its caller included; at least 1.
  std::atomic<std::uint32_t> width{1};
  /// How long a helper without work, or a caller at its loop's end, polls before it sleeps.
  std::atomic<std::int64_t> spin_ns{0};
  /// How long they poll after a wait that was shorter than this, if this is longer than spin_ns.
  std::atomic<std::int64_t> patience_ns{0};
  /// Set by callers at loop entry if unset, cleared by the monitor: whether the process uses loops.
  std::atomic<bool> is_used{false};

  [[nodiscard]] std::uint64_t spin_cycles(const core::CycleClock& clock) const {
    return clock.cycles_in(spin_ns.load(std::memory_order_relaxed));
  }

  /// How long to poll after a wait of `last_cycles`, as core::poll_limit() defines.
  [[nodiscard]] std::uint64_t spin_cycles_after(const core::CycleClock& clock,
                                                std::uint64_t last_cycles) const {
    const std::uint64_t patience = clock.cycles_in(patience_ns.load(std::memory_order_relaxed));
    const std::uint64_t spin = spin_cycles(clock);
    return core::poll_limit(last_cycles, std::max(spin, patience), spin);
  }
};

}  // namespace sorrel::governor
