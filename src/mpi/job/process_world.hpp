//! ProcessWorld - makes and ends a process's part of the job: its world, and the ranks of its
//! workers.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/fiber_pool.hpp"
#include "mpi/base/tuning.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/job/rank_balancer.hpp"

namespace sorrel::mpi {

class ProcessWorld final : public World {
 public:
  ProcessWorld(core::Scheduler& scheduler,
               JobControl& job,
               const RankLayout& layout,
               const Connection& connection,
               const TuningTable& tuning);
  ~ProcessWorld();

  /// Creates the states of the ranks of `worker`, on its thread.
  void make_ranks(core::Worker& worker);
  /// Destroys those that it has at the end.
  void end_ranks(core::Worker& worker);

  /// While all workers are stopped: whether no packet waits for room in a mailbox. Part of
  /// core::JobStopAction::is_quiet().
  [[nodiscard]] bool have_all_packets_left() const;

  /// The same in all processes of the job.
  [[nodiscard]] const TuningTable& tuning() const { return tuning_; }

  /// Null if ranks stay on their workers.
  [[nodiscard]] const RankBalancer* balancer() const { return balancer_.get(); }

 private:
  /// Workers may pass packets to ranks of other ones, also when these have ended.
  [[nodiscard]] bool passes_packets() const {
    return transport() != nullptr && balance_point() != nullptr;
  }

  /// Placeholder for every rank of another process.
  std::unique_ptr<RankState> remote_rank_;
  std::unique_ptr<Request> remote_request_;
  std::vector<std::unique_ptr<WorkerState>> states_;
  std::unique_ptr<RankBalancer> balancer_;
  const TuningTable tuning_;
};

/// On the thread of the rank's worker, at its end: sends the packets that other processes may still
/// need.
void drain(const WorkerState& state);

/// The stack of the fiber that the rank's worker runs, if it is that of a nonblocking collective.
/// Also in a signal handler of the worker's thread.
[[nodiscard]] std::optional<core::FiberPool::Stack> operation_stack_of(const RankState& rank);

}  // namespace sorrel::mpi
