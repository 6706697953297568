//! retry_until - waits of a rank for something that the system does not report: the rank asks again
//! and again, and its worker runs other ranks between.
#pragma once

#include <algorithm>
#include <cstdint>

#include "program/rank/rank_process.hpp"

namespace sorrel::program {

/// Calls `attempt()` until it returns true, after pauses of 20 us to 1 ms. False: a handler of the
/// rank has interrupted the wait as it interrupts system calls. May suspend.
template <class Attempt>
[[nodiscard]] bool retry_until(RankProcess& process, const OutsideWait& wait, Attempt&& attempt) {
  constexpr std::int64_t pause_ns_min = 20'000;
  constexpr std::int64_t pause_ns_max = 1'000'000;
  std::int64_t pause_ns = pause_ns_min;
  while (!attempt()) {
    if (process.sleep(wait, pause_ns) != 0 && process.signals().has_interrupted()) return false;
    pause_ns = std::min(2 * pause_ns, pause_ns_max);
  }
  return true;
}

}  // namespace sorrel::program
