//! CoreWaits - how many threads of this process waited for cores that other threads had. Pure.
#pragma once

#include <cstdint>

#include "core/poll_limit.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::governor {

/// How many of the threads wait for a core. Where it is only one of many, the others wait for that
/// thread, and their polling takes a core from none.
class CoreWaits {
 public:
  /// A thread between two readings. Returns its core_wait_ns().
  std::int64_t add(const os::RunTimes& from, const os::RunTimes& to) {
    const std::int64_t wait_ns = core::core_wait_ns(from, to);
    const std::int64_t active_ns = to.run_ns - from.run_ns + wait_ns;
    if (active_ns < active_ns_min) return wait_ns;
    ++thread_count_;
    if (wait_ns > active_ns / 20) ++waiting_count_;
    return wait_ns;
  }

  /// More than one in eight.
  [[nodiscard]] bool do_many_wait() const { return waiting_count_ * 8 > thread_count_; }

 private:
  /// A thread with less does not use its core.
  static constexpr std::int64_t active_ns_min = 50'000;

  std::uint32_t thread_count_ = 0;
  std::uint32_t waiting_count_ = 0;
};

}  // namespace sorrel::governor
