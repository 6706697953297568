//! HelperPool - the helpers of this process, their governor, and the groups that they help.
//!
//! One per process, created at the first region with more than one thread. Helpers check every
//! group for ready threads; a helper whose number is not below the governor's width sleeps. No
//! thread waits for a helper: the group's own thread runs what no helper has begun.
//!
//! In the monitor's ticks, the pool checks whether ready threads have not been begun meanwhile,
//! because all workers are in long pieces of the program. It then lets one more helper run them,
//! whatever the width: so threads that wait for each other in their own loops make progress. Ticks
//! come every 20 ms while a group makes no progress, else as rarely as the monitor allows. Any
//! thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "core/cycle_clock.hpp"
#include "core/thread_pool.hpp"
#include "governor/controls.hpp"
#include "governor/core_spread.hpp"
#include "governor/monitor.hpp"
#include "omp/sched/group.hpp"

namespace sorrel::omp {

class HelperPool {
 public:
  static constexpr std::uint32_t helper_count_max = 512;
  static constexpr std::uint32_t group_count_max = 256;

  explicit HelperPool(const governor::Settings& settings);

  /// Any thread: how many threads may run now, the caller included.
  [[nodiscard]] std::uint32_t width() const {
    // Relaxed: numbers by themselves.
    return std::max(controls_.width.load(std::memory_order_relaxed),
                    width_min_.load(std::memory_order_relaxed));
  }

  /// Whether native threads run no fibers, because there is a helper for every fiber, or for good.
  [[nodiscard]] bool are_native_threads_free() const {
    const std::uint32_t least = width_min_.load(std::memory_order_relaxed);
    return least > 1 && (helpers_.started_count() + 1 >= least || keeps_native_threads_free());
  }

  /// Whether native threads run no fibers for good: free_native_threads() was called.
  [[nodiscard]] bool keeps_native_threads_free() const {
    return width_floor_.load(std::memory_order_relaxed) > 1;
  }

  /// From here on native threads run no fibers: some have kernel threads of their own, or wait in
  /// the C library. False if the system allows no helper.
  bool free_native_threads();

  [[nodiscard]] std::uint64_t spin_cycles() const { return controls_.spin_cycles(clock_); }

  /// As spin_cycles(), for a thread that waits again, after an unsuccessful wait of `last_cycles`.
  [[nodiscard]] std::uint64_t spin_cycles_after(std::uint64_t last_cycles) const {
    return controls_.spin_cycles_after(clock_, last_cycles);
  }

  [[nodiscard]] governor::Monitor& monitor() { return monitor_; }

  /// From here on, as many threads as now, or `width`, run.
  void freeze(std::optional<std::uint32_t> width) {
    if (width) width = std::min(*width, width_max_);
    monitor_.freeze(width);
  }

  // For core::ProcessInstance.
  void deregister() { monitor_.deregister(); }

  static void on_fork();

  /// Ends the helpers and the monitor's thread, and waits for their end. No group has a thread any
  /// more, and the next pool() makes another pool.
  void end();

  void add(Group& group);
  void remove(Group& group);

  /// `count` more threads of `group` are ready: wakes or starts a helper if too few are awake.
  void request_helpers(const Group& group, std::uint32_t count);

  /// One thread of `group` is ready.
  void request_helper(const Group& group);

  /// A team of that many threads has a task that no thread has begun.
  void request_helper_for_tasks(std::uint32_t team_size) {
    if (helpers_.has_parked()) [[unlikely]]
      (void)wake_parked(std::min(team_size, width()), false);
  }

  /// The number of the helper that starts thread `number` of `group` if it can.
  [[nodiscard]] std::uint32_t helper_of(const Group& group, std::uint32_t number) const {
    return width_max_ < 2 ? 1 : 1 + (number - 1 + group.index) % (width_max_ - 1);
  }

  /// The thread of `group` that helper `helper` starts if it can.
  [[nodiscard]] std::uint32_t thread_of(const Group& group, std::uint32_t helper) const {
    const std::uint32_t others = width_max_ < 2 ? 1 : width_max_ - 1;
    return 1 + (helper - 1 + others - group.index % others) % others;
  }

 private:
  struct GroupState {
    std::uint64_t region_count = 0;
    std::uint64_t taken_count = 0;
    std::uint64_t unstarted = 0;
    std::uint32_t run_count = 0;
    std::uint32_t rescue_count = 0;

    bool operator==(const GroupState&) const = default;
  };

  /// Changes at every tick in which the group made progress.
  struct GroupView {
    GroupState state;
    std::uint32_t stalled_ticks = 0;
    std::uint32_t stalled_fiber_ticks = 0;
  };

  struct Helper : core::PoolThread {
    HelperPool* pool = nullptr;
    // Wakers do not read its line.
    alignas(cache_line_bytes) Worker worker;
    std::atomic<bool> is_extra{false};  ///< runs though its number is not below the width
    governor::CoreSpread core_spread;

    /// Any thread, before it wakes or starts the helper.
    void prepare(bool as_extra) {
      core_spread.record_waker();
      // Relaxed: the wake-up orders it.
      if (as_extra) is_extra.store(true, std::memory_order_relaxed);
    }
  };

  static void* helper_main(void* argument);
  void run_helper(Helper& self);
  Thread* find_work(const Worker& worker, bool is_patient);
  [[nodiscard]] bool has_work() const;
  void park(Helper& self);
  bool start_helper(bool is_extra);

  /// Whether another helper can be woken or started.
  [[nodiscard]] bool has_more_helpers() const {
    return helpers_.has_parked() || helpers_.started_count() + 1 < width();
  }

  bool wake_parked(std::uint32_t limit, bool is_extra);
  governor::Monitor::Finding on_tick();
  bool check_progress(Group& group, GroupView& view);
  void record_stuck(bool is_stuck, std::uint32_t member_count);

  // Constant after construction.
  const core::CycleClock clock_;
  const std::uint32_t width_max_;

  governor::Controls controls_;
  /// More than 1 for programs whose threads wait in their own loops.
  std::atomic<std::uint32_t> width_min_{1};
  /// 2 once native threads are kept free.
  std::atomic<std::uint32_t> width_floor_{1};
  governor::Monitor monitor_;

  // Any thread; seldom written.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> group_limit_{0};
  std::array<std::atomic<Group*>, group_count_max> groups_{};
  std::atomic<bool> is_ending_{false};
  std::atomic<std::uint32_t> ended_count_{0};  ///< of helpers
  core::ThreadPool<Helper> helpers_{helper_count_max};

  // The monitor's thread.
  std::array<GroupView, group_count_max> views_{};
  std::int64_t last_stuck_ns_ = 0;
  std::uint32_t stuck_count_ = 0;
};

/// The pool of the process, made at the first call.
[[nodiscard]] HelperPool& pool();

/// Ends the threads of the pool, if there is one. No thread of the process may need it meanwhile.
void end_pool();

/// The pool if it has been made, or null.
[[nodiscard]] HelperPool* pool_if_made();

}  // namespace sorrel::omp
