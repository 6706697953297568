//! PollLimit - how long a waiting thread polls before it sleeps: one policy for workers, helpers of
//! loops, and OpenMP threads (README.md, "Waiting").
//!
//! Pure. Whether cores are free is the governor's decision; without free cores threads do not poll.
//! A thread also sees by CoreLoss when it waits for its own core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "os/sched_stat.hpp"

namespace sorrel::core {

/// Time from the waker's call until a thread runs that slept on an idle core: at most, on a virtual
/// machine.
inline constexpr std::int64_t wake_ns_max = 100'000;

/// While cores are free. The wake-up at the end of a longer wait prolongs it by 5 % at most. A wait
/// is shorter even if wake-ups prolong it, one after the other up and down a tree of 128 threads.
inline constexpr std::int64_t poll_ns_max = 20 * wake_ns_max;

/// After a longer wait: the next one may be as long, and its poll unsuccessful.
inline constexpr std::int64_t brief_poll_ns = wake_ns_max;

/// The limit of a wait after one of `last_wait`, which includes its sleep. `most`: the limit while
/// cores are free; `brief`: after a longer wait. All in one unit.
template <class Duration>
[[nodiscard]] constexpr Duration poll_limit(Duration last_wait, Duration most, Duration brief) {
  return last_wait < most ? most : std::min(brief, most);
}

/// For how long other threads had the core that a thread waited for, between two readings: of its
/// delay, what exceeds a wake-up for each time that it got a core. The kernel counts the wake-up of
/// an idle core, too.
[[nodiscard]] inline std::int64_t core_wait_ns(const os::RunTimes& from, const os::RunTimes& to) {
  const std::int64_t wakes_ns = (to.slice_count - from.slice_count) * wake_ns_max;
  return std::max<std::int64_t>(to.delay_ns - from.delay_ns - wakes_ns, 0);
}

/// Whether a thread has lately been without a core that it needed. One owner.
class CoreLoss {
 public:
  /// A new reading of the thread's times. Returns whether it has lost its core since the last one.
  bool record(const os::RunTimes& times, std::int64_t now_ns) {
    const std::int64_t lost_ns = core_wait_ns(std::exchange(times_, times), times);
    if (lost_ns < lost_ns_min) return false;
    until_ns_ = now_ns + std::min(memory_factor * lost_ns, memory_ns_max);
    return true;
  }

  /// The first reading on another thread.
  void begin(const os::RunTimes& times) { times_ = times; }

  /// Whether the thread should not poll: other threads need the core.
  [[nodiscard]] bool is_recent(std::int64_t now_ns) const { return now_ns < until_ns_; }

  /// Whether the thread has never lost its core.
  [[nodiscard]] bool is_none() const { return until_ns_ == 0; }

  static constexpr std::int64_t lost_ns_min = os::slice_ns_min;
  /// The next reading follows a brief poll, which costs little beside that time.
  static constexpr std::int64_t memory_factor = 8;
  static constexpr std::int64_t memory_ns_max = 200'000'000;

 private:
  os::RunTimes times_;
  std::int64_t until_ns_ = 0;
};

}  // namespace sorrel::core
