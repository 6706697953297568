//! Monitor - the thread that reads the signals, calls the governor, and sets the controls of a
//! team.
//!
//! It ticks 20 ms after each change in the demand or the grant of the process, then backs off to
//! 120 ms, until the job registry changes. After a second without any loop it sleeps until the next
//! loop. So a loop's entry reads one line and no clock. A tick reads the times of at most
//! thread_samples_max threads and the page of the registry. Nearly all of its 60 us are cache
//! misses, so the number of ticks determines the cost. Created once per team. Any thread may call
//! add_thread(), record_use(), freeze().
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/cache_line.hpp"
#include "governor/controls.hpp"
#include "governor/demand.hpp"
#include "governor/governor.hpp"
#include "governor/job_registry.hpp"
#include "governor/settings.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::governor {

class Monitor {
 public:
  static constexpr std::uint32_t thread_count_max = 1024;
  static constexpr std::uint32_t thread_samples_max = 16;

  /// Sets `controls` from `settings` at once. Starts no thread.
  Monitor(const Settings& settings, Controls& controls);

  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  /// Ends its thread.
  ~Monitor();

  /// Adds the calling thread: its delay counts, once however often it is added.
  void add_thread();

  /// Result of the process's own part of a tick.
  struct Finding {
    /// The process uses its threads, though no loop has begun.
    bool is_used = false;
    /// A thread may need help at the next tick, which should come soon.
    bool needs_early_tick = false;
  };

  /// Before the first thread is added: runs in every tick, on the monitor's thread.
  void set_on_tick(std::function<Finding()> on_tick) { on_tick_ = std::move(on_tick); }

  /// Starts watching; also done when a second thread is added.
  void begin_watching();

  /// At a loop's entry.
  void record_use() {
    // Relaxed, and not atomic as a whole: an estimate, from which a loop may be missing.
    loop_count_.store(loop_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // Relaxed: read often, written once a tick.
    if (controls_.is_used.load(std::memory_order_relaxed)) [[likely]]
      return;
    begin_use();
  }

  /// From here on, loops have as many threads as now, or `width`.
  std::uint32_t freeze(std::optional<std::uint32_t> width);

  /// At the end of the process that created it, any thread: deregisters the process and ends the
  /// ticks. Does not wait; loops may still run afterwards.
  void deregister();

  /// Ends its thread, or prevents its start, and waits for the end.
  void stop();

  /// The present decision; on the monitor's thread.
  [[nodiscard]] GovernorDecision decision() const { return governor_.decision(); }

  /// One reading and decision.
  void tick();

 private:
  static void* thread_main(void* argument);
  void begin_use();
  void sleep_until_tick();
  void sleep_until_used();

  [[nodiscard]] bool is_stopping() const {
    return is_stopping_.load(std::memory_order_relaxed) != 0;
  }

  [[nodiscard]] std::uint32_t loop_width(std::uint32_t thread_count) const {
    return std::min(thread_count, settings_.loop_width_max);
  }

  void read_limits();
  void read_threads();
  void read_registry();
  [[nodiscard]] std::int64_t tick_distance_ns() const;
  void carry_out(const GovernorDecision& decision);
  void set_slices(bool are_long);
  void say(const char* format, std::uint32_t first, std::uint32_t second) const;

  const Settings settings_;
  std::function<Finding()> on_tick_;
  Controls& controls_;

  // The monitor's thread; before it starts, the thread that creates it.
  Governor governor_;
  std::unique_ptr<JobRegistry> registry_;
  GovernorSample sample_;
  std::vector<os::SchedStat> threads_;
  std::vector<os::RunTimes> last_times_;
  /// The slice set for each thread; 0: none, it has inherited its value.
  std::vector<std::int64_t> slices_ns_;
  /// The threads' slice before a longer one is requested; nothing: it cannot be changed.
  const std::optional<std::int64_t> own_slice_ns_;
  bool had_long_slices_ = false;
  std::uint32_t next_thread_ = 0;
  Demand demand_;
  std::int64_t used_ns_ = 0;
  std::int64_t limits_read_ns_ = 0;
  std::int64_t reclaimed_ns_ = 0;
  std::int64_t reclaimed_gone_ns_ = 0;
  std::int64_t changed_ns_ = 0;
  std::uint32_t change_count_ = 0;

  // Any thread.
  alignas(cache_line_bytes) std::atomic<std::uint32_t> thread_count_{0};
  std::array<std::atomic<int>, thread_count_max> thread_numbers_{};
  alignas(cache_line_bytes) std::atomic<std::uint32_t> loop_count_{0};
  alignas(cache_line_bytes) std::atomic<bool> has_started_{false};
  std::atomic<std::uint32_t> is_asleep_{0};
  std::atomic<bool> is_frozen_{false};
  std::atomic<std::uint32_t> is_stopping_{0};
  std::atomic<std::uint32_t> has_ended_{0};
  int native_number_ = 0;  ///< of its thread; published by has_ended_
};

}  // namespace sorrel::governor
