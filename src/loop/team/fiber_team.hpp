//! FiberTeam - helpers of loops in a job: its idle workers.
//!
//! The loops of all ranks share the workers that the ranks run on, so there are never more threads
//! than workers. A worker without a ready rank searches for open loops. It runs chunks in a fiber
//! of its own that is no rank (MPI must not be called there). After each chunk it checks whether
//! one of its ranks is ready, and if so leaves the loop. A rank that waits for the end of its loop
//! lets other ranks of its worker run. A team is a Host of protocol.hpp. Created at the first loop
//! of a job; lives as long as the scheduler.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/cache_line.hpp"
#include "core/completion.hpp"
#include "core/cycle_clock.hpp"
#include "core/scheduler.hpp"
#include "governor/controls.hpp"
#include "governor/monitor.hpp"
#include "loop/team/grain_tuner.hpp"
#include "loop/team/loop_table.hpp"
#include "os/stack_slab.hpp"

namespace sorrel::loop {

class FiberTeam final : public core::IdleSource {
 public:
  /// What the governor controls.
  enum class Governed { loops, fibers };

  explicit FiberTeam(core::Scheduler& scheduler, Governed governed = Governed::loops);
  ~FiberTeam() override;

  /// Creates the team of a scheduler whose fibers are governed, too: they run on as many threads as
  /// the governor grants. Once, before any loop.
  static void govern_fibers(core::Scheduler& scheduler);

  /// At the end of the process: removes it from the job registry.
  static void deregister(const core::Scheduler& scheduler);

  /// The team of a worker's scheduler, created now if there is none.
  static FiberTeam& of(core::Worker& worker);

  /// For the teams created in this process from now on. Before the first loop.
  static void set_settings(const governor::Settings& settings);

  governor::Controls& controls() { return controls_; }

  governor::Monitor& monitor() { return monitor_; }

  bool on_idle(core::Worker& worker, bool is_about_to_sleep) override;

  GrainTuner& grain_tuner() { return grain_tuner_; }

  // The host interface of protocol.hpp. In a fiber.
  OpenLoop* open(const Work& work, std::uint32_t helper_count_max);
  void wait_for_end(OpenLoop& loop);
  void wake_caller(OpenLoop& loop);
  void wake_helper();
  [[nodiscard]] bool has_sleepers(std::uint32_t wanted) const;

  /// Workers without a ready rank always search for loops.
  [[nodiscard]] static bool has_searchers() { return true; }

  [[nodiscard]] std::uint64_t wake_cost_cycles() const { return wake_cost_cycles_; }

  static void record_alone(std::uint64_t /*cycles*/) {}

  [[nodiscard]] static bool needs_thread();

 private:
  /// A sleeping caller; one for each slot.
  struct Sleep : core::RemoteCall {
    core::Worker* worker = nullptr;
    core::Completion is_over;
  };

  /// The helper of one worker, accessed by its thread alone.
  struct alignas(cache_line_bytes) Helper {
    explicit Helper(LoopTable& table) : finder(table) {}

    FiberTeam* team = nullptr;
    core::Fiber fiber;
    LoopFinder finder;
    OpenLoop* loop = nullptr;
    bool has_started = false;
    bool is_monitored = false;
    /// In a loop, perhaps suspended in a nested one.
    bool is_busy = false;
  };

  governor::Monitor::Finding apply_decision();
  static void helper_main(void* argument);
  void send_helper(core::Worker& worker, Helper& helper, OpenLoop& loop);

  core::Scheduler& scheduler_;
  const core::CycleClock clock_;
  const std::uint64_t wake_cost_cycles_;
  LoopTable table_;
  GrainTuner grain_tuner_;
  std::vector<Sleep> sleeps_;
  std::vector<std::unique_ptr<Helper>> helpers_;
  os::StackSlab stacks_;
  governor::Controls controls_;
  const std::int64_t spin_ns_max_;
  std::int64_t cpu_ns_ = 0;
  std::int64_t applied_ns_ = 0;
  governor::Monitor monitor_;
};

}  // namespace sorrel::loop
