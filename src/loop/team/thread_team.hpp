//! ThreadTeam - helpers of loops in a plain program: threads of the library, started when the first
//! loop is long enough.
//!
//! Any thread of the program may run loops, several at a time, and nested. All share the same
//! helpers, so there are never more helpers than the width beside the program's own threads. A
//! helper without work searches for a while (Controls::spin_ns; patience_ns if that sufficed the
//! last time), then sleeps. Threads never end: they sleep until the process exits. A team is a Host
//! of protocol.hpp. Limit: width_max.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/cache_line.hpp"
#include "core/core_watch.hpp"
#include "core/cycle_clock.hpp"
#include "core/thread_pool.hpp"
#include "governor/controls.hpp"
#include "governor/core_spread.hpp"
#include "loop/team/grain_tuner.hpp"
#include "loop/team/loop_table.hpp"

namespace sorrel::loop {

class ThreadTeam {
 public:
  static constexpr std::uint32_t width_max = 1024;

  /// `width`: threads of the largest loop, its caller included. Starts none. `on_start`, if given,
  /// runs first on each helper's thread.
  explicit ThreadTeam(std::uint32_t width, std::function<void()> on_start = {});

  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  /// Only if no helper was ever started, because helpers access the team for ever.
  ~ThreadTeam();

  governor::Controls& controls() { return controls_; }

  [[nodiscard]] std::uint32_t width() const { return width_; }

  [[nodiscard]] std::uint32_t started_count() const { return pool_.started_count(); }

  GrainTuner& grain_tuner() { return grain_tuner_; }

  // The host interface of protocol.hpp.
  OpenLoop* open(const Work& work, std::uint32_t helper_count_max);
  void wait_for_end(OpenLoop& loop);
  static void wake_caller(OpenLoop& loop);
  void wake_helper();

  /// Whether fewer than `wanted` helpers are awake, and more can be woken or started.
  [[nodiscard]] bool has_sleepers(std::uint32_t wanted) const {
    const std::uint32_t awake = pool_.awake_count();
    return awake < wanted && awake + 1 < width_;
  }

  [[nodiscard]] bool has_searchers() const { return pool_.awake_count() != 0; }

  /// How long the rest of a loop must be to wake, or start, a helper for it. Loops that follow each
  /// other closely count as one, because a helper stays awake between them.
  [[nodiscard]] std::uint64_t wake_cost_cycles() const;

  /// A caller has run a loop of so many cycles alone, because all helpers slept.
  void record_alone(std::uint64_t cycles);

  [[nodiscard]] bool needs_thread() const { return false; }

 private:
  struct Helper : core::PoolThread {
    ThreadTeam* team = nullptr;
    governor::CoreSpread core_spread;
    core::CoreWatch core_watch;
  };

  static void* helper_main(void* argument);
  OpenLoop* search(Helper& self, LoopFinder& finder, std::uint64_t last_gap_cycles);
  OpenLoop* park(Helper& self, LoopFinder& finder);

  // Constant after construction.
  const std::uint32_t width_;
  const core::CycleClock clock_;
  const std::uint64_t wake_cost_cycles_;
  const std::uint64_t start_cost_cycles_;
  const std::function<void()> on_start_;

  // Any thread; seldom written.
  governor::Controls controls_;
  core::ThreadPool<Helper> pool_;
  // For callers, on their own line: a helper that falls asleep does not fetch it. Estimates: if
  // callers run loops alone at the same time, one of their values is lost.
  alignas(cache_line_bytes) std::atomic<std::uint64_t> alone_cycles_{0};
  std::atomic<std::uint64_t> alone_until_{0};

  LoopTable table_;
  GrainTuner grain_tuner_;
};

}  // namespace sorrel::loop
