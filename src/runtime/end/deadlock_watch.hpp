//! DeadlockWatch - finds ranks that wait for each other for ever while other ranks of the process
//! run, poll or compute.
//!
//! When all workers sleep, the scheduler finds a deadlock itself. This watch is for the other case.
//! Once a second the thread of the StallWatch compares what each rank waits for with the last
//! sample. If some rank has not moved, it requests the attention of all workers. When all have
//! answered, so that none computes, one of them stops them all, and the graph of what the ranks
//! need decides (mpi/job/rank_needs.hpp). A process of one worker needs no stop. Fruitless attempts
//! become rarer, down to one in 16 s. Workers do no work for it between two attempts.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/scheduler.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/job/wait_graph.hpp"

namespace sorrel::runtime {

class DeadlockWatch final : private core::StopAction {
 public:
  using Worlds = std::vector<std::unique_ptr<mpi::ProcessWorld>>;
  /// While no fiber runs; the ranks, at least one, never go on. Need not return.
  using Report = std::function<void(const std::vector<mpi::WaitGraph::Stuck>& ranks)>;

  /// All arguments outlive it.
  DeadlockWatch(core::Scheduler& scheduler, const Worlds& worlds, Report report);

  /// Once a second, on a thread that runs no rank, while the ranks exist.
  void sample();

  /// In SchedulerHooks::on_attention().
  void on_attention(core::Worker& worker);

 private:
  enum class Step : std::uint8_t {
    idle,
    asked,    ///< All workers have been asked to answer.
    stopping  ///< One of them is to stop all.
  };

  [[nodiscard]] bool has_unmoved_rank();
  void begin(Step step);
  void examine();
  void on_stopped() override;
  void on_resumed(core::Worker& requester) override;

  core::Scheduler& scheduler_;
  const Worlds& worlds_;
  const Report report_;

  // On the thread that samples.
  std::vector<std::uint64_t> last_waits_;
  std::uint32_t samples_to_skip_ = 0;
  std::uint32_t pause_ = 0;

  // Release by the thread that samples, acquire by workers: what it has asked for.
  std::atomic<Step> step_{Step::idle};
  /// By the index of the worker: whether it has answered. Relaxed: a hint.
  std::vector<std::atomic<bool>> answered_;
};

}  // namespace sorrel::runtime
