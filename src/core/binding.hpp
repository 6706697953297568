//! Binding - the core to which the thread of a worker is bound, and its release from that core
//! while another thread has it.
//!
//! A thread that waits behind another one for the only core that it may use keeps all workers that
//! wait for it. A waiting worker of the process, or the thread itself, finds that out and releases
//! it: the kernel then runs it on any core that is idle. It is bound again after a pause, which is
//! doubled if that was too early.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/poll_limit.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::core {

/// Whether a thread was without its core for a time slice, and for more than one part in eight of
/// the time in which it could have run.
[[nodiscard]] inline bool is_starved(const os::RunTimes& from, const os::RunTimes& to) {
  const std::int64_t wait_ns = core_wait_ns(from, to);
  return wait_ns >= os::slice_ns_min && 8 * wait_ns > wait_ns + to.run_ns - from.run_ns;
}

/// When a thread that was released is bound again. Pure.
class BindingPause {
 public:
  void record_bound(std::int64_t now_ns) { bound_ns_ = now_ns; }

  void record_release(std::int64_t now_ns) {
    const bool is_early = bound_ns_ != 0 && now_ns - bound_ns_ < pause_ns_;
    pause_ns_ = is_early ? std::min(2 * pause_ns_, pause_ns_max) : pause_ns_min;
    until_ns_ = now_ns + pause_ns_;
  }

  [[nodiscard]] bool is_over(std::int64_t now_ns) const { return now_ns >= until_ns_; }

  static constexpr std::int64_t pause_ns_min = 1'000'000'000;
  static constexpr std::int64_t pause_ns_max = 64 * pause_ns_min;

 private:
  std::int64_t bound_ns_ = 0;
  std::int64_t pause_ns_ = pause_ns_min;
  std::int64_t until_ns_ = 0;
};

class Binding {
 public:
  /// On the thread: binds it to `cpu`. `allowed`: the cpus that it may use after a release; without
  /// another one than `cpu` there is none.
  void begin(int cpu, std::vector<int> allowed);

  /// On the thread, which ends.
  void end() { thread_.store(0, std::memory_order_relaxed); }

  /// Any thread of the process: the number of the thread while it is bound, else 0.
  [[nodiscard]] int bound_thread() const { return thread_.load(std::memory_order_relaxed); }

  /// Any thread of the process. Without effect if the program has changed the thread's cpus.
  void release();

  /// On the thread, now and then: binds it again if the pause after a release is over.
  void update(std::int64_t now_ns);

 private:
  void bind();

  int cpu_ = -1;
  int own_thread_ = 0;
  std::vector<int> allowed_;
  BindingPause pause_;
  /// Known to the thread.
  bool is_released_ = false;
  /// Relaxed: begin() comes before all other workers run fibers, and nothing else is read through
  /// it.
  std::atomic<int> thread_{0};
};

/// A worker's observations of the other bound threads of its process. One owner.
class BindingWatch {
 public:
  explicit BindingWatch(std::uint32_t worker_count) : readings_(worker_count) {}

  /// Whether it is time to observe() a worker.
  [[nodiscard]] bool is_due(std::int64_t now_ns) const { return now_ns >= next_ns_; }

  /// The worker to observe: each in turn.
  [[nodiscard]] std::uint32_t next(std::int64_t now_ns) {
    next_ns_ = now_ns + period_ns;
    next_ = (next_ + 1) % static_cast<std::uint32_t>(readings_.size());
    return next_;
  }

  /// Releases the thread of worker `worker` if it is starved. Some 10 us.
  void observe(std::uint32_t worker, Binding& binding);

  static constexpr std::int64_t period_ns = 2'000'000;

 private:
  struct Reading {
    int thread = 0;
    os::RunTimes times;
  };

  std::vector<Reading> readings_;
  std::uint32_t next_ = 0;
  std::int64_t next_ns_ = 0;
};

}  // namespace sorrel::core
