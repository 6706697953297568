//! ProcessWorld - makes and ends a process's part of the job: its world, and the ranks of its
//! workers.
#pragma once

#include <memory>
#include <optional>
#include <span>
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

  // Ranks that change their process, while all workers of the job are stopped (README.md, "Ranks
  // that change their process").

  /// A rank that comes, for a worker of this process. It is not one of its ranks before end_move().
  [[nodiscard]] RankState& make_arrival(std::int32_t world_rank, core::Worker& worker);
  /// It does not come after all.
  void drop_arrival(RankState& rank);

  /// The ranks are where `layout` says, in all processes. Returns the communicators, in order of
  /// their addresses, of which a member changes its process. They exist until end_move().
  [[nodiscard]] std::span<CommShared* const> begin_move(const RankLayout& layout);

  /// A rank that goes. Its objects have ended.
  void remove(RankState& rank);

  /// All that go have been removed. `arrivals`: all that come.
  void end_move(std::span<RankState* const> arrivals);

  /// The same in all processes of the job.
  [[nodiscard]] const TuningTable& tuning() const { return tuning_; }

  /// Null if ranks stay on their workers.
  [[nodiscard]] const RankBalancer* balancer() const { return balancer_.get(); }

  /// While all workers are stopped: whether no nonblocking collective is in progress, or kept by a
  /// persistent request.
  [[nodiscard]] bool has_idle_operations() const;

 private:
  [[nodiscard]] RankState* make_rank(std::int32_t world_rank, core::Worker& worker);
  void make_self_comm(RankState& rank);

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
  /// From begin_move() to end_move().
  std::vector<CommShared*> moving_comms_;
};

/// On the thread of the rank's worker, at its end: sends the packets that other processes may still
/// need.
void drain(const WorkerState& state);

/// The stack of the fiber that the rank's worker runs, if it is that of a nonblocking collective.
/// Also in a signal handler of the worker's thread.
[[nodiscard]] std::optional<core::FiberPool::Stack> operation_stack_of(const RankState& rank);

}  // namespace sorrel::mpi
