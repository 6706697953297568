//! YieldLimit - whether a waiting thread yields its core, or sleeps instead (core/README.md,
//! "Waiting").
//!
//! Pure; one owner. A yield pays if the core goes to a thread that soon publishes what the waiting
//! thread needs. If threads that compute take the core, each yield costs a time slice of each of
//! them: the kernel takes a thread that yields behind all others of its core, for seconds if its
//! priority is low. A sleeper keeps its turn, and gets the core back before most of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "os/sched_stat.hpp"

namespace sorrel::os {

class YieldLimit {
 public:
  [[nodiscard]] bool may_yield(std::int64_t now_ns) const { return now_ns >= paused_until_ns_; }

  /// The core was given away for that time. A pause follows a turn as long as a slice: at first as
  /// long as the turn, and twice as long as the last one if few turns were short since.
  void record_turn(std::int64_t began_ns, std::int64_t ended_ns) {
    const std::int64_t turn_ns = ended_ns - began_ns;
    if (turn_ns < slice_ns_min) {
      if (short_turns_ < short_turns_needed && ++short_turns_ == short_turns_needed) pause_ns_ = 0;
      return;
    }
    short_turns_ = 0;
    pause_ns_ = std::max(turn_ns, std::min(2 * pause_ns_, pause_ns_max));
    paused_until_ns_ = ended_ns + pause_ns_;
  }

  /// Some hundred times what a failed trial costs.
  static constexpr std::int64_t pause_ns_max = 4'000'000'000;
  static constexpr std::uint32_t short_turns_needed = 16;

 private:
  std::int64_t paused_until_ns_ = 0;
  std::int64_t pause_ns_ = 0;
  std::uint32_t short_turns_ = 0;
};

}  // namespace sorrel::os
