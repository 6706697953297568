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
#include "mpi/job/port_service.hpp"
#include "mpi/job/process_calls.hpp"
#include "mpi/job/rank_balancer.hpp"
#include "mpi/job/spawned_ranks.hpp"
#include "mpi/safepoint/safepoint.hpp"

namespace sorrel::mpi {

class SpawnService;

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

  // Ranks that change their process, while all workers of the job are stopped (README.md, "Ranks
  // that change their process").

  /// A rank that comes, for a worker of this process. It is not one of its ranks before end_move().
  [[nodiscard]] RankState& make_arrival(std::int32_t world_rank, core::Worker& worker);
  /// It does not come after all.
  void drop_arrival(RankState& rank);

  /// The ranks are where `layout` says, in all processes. Returns the communicators, in order of
  /// their addresses, of which a member changes its process. They exist until end_move().
  [[nodiscard]] std::span<CommShared* const> begin_move(const RankLayout& layout);

  /// Removes a rank that goes. Its objects have ended.
  void remove(RankState& rank);

  /// Called when all that go have been removed. `arrivals`: all that come.
  void end_move(std::span<RankState* const> arrivals);

  /// Equal in all processes of the job.
  [[nodiscard]] const TuningTable& tuning() const { return tuning_; }

  /// Null if ranks stay on their workers.
  [[nodiscard]] const RankBalancer* balancer() const { return balancer_.get(); }

  /// The communicator of all ranks of the job, by number. For messages only.
  [[nodiscard]] CommShared& shared_of_job() const { return *job_comm_; }

  [[nodiscard]] PortService& ports() { return *ports_; }

  [[nodiscard]] ProcessCalls& calls() { return calls_; }

  /// Null until its owner has set it, before ranks run: where there are no places, and on simulated
  /// nodes.
  [[nodiscard]] SpawnService* spawns() const { return spawns_; }

  void set_spawns(SpawnService& spawns) { spawns_ = &spawns; }

  /// Null if there are no places for further ranks.
  [[nodiscard]] SpawnedRanks* spawned() const { return spawned_.get(); }

  /// Calls visit(rank) for each rank of this process that has not been removed. Any thread; holds a
  /// lock meanwhile where ranks can be spawned.
  template <class Visit>
  void for_each_rank(Visit&& visit) const {
    for (std::int32_t i = first_own_rank(); i < last_own_rank(); ++i)
      visit(*ranks()[i]);
    if (spawned_ != nullptr) spawned_->for_each(visit);
  }

  // For SpawnedRanks.
  /// A rank with this number, in the table, without communicators.
  [[nodiscard]] RankState& make_spawned(std::int32_t number, core::Worker& worker);
  /// Gives a rank its MPI_COMM_SELF.
  void make_self_comm(RankState& rank);
  /// Gives it its MPI_COMM_WORLD, whose error handler the rank has.
  static void enter_world_comm(RankState& rank, CommShared& shared);
  /// The rank has ended.
  void take_comms(RankState& rank);
  /// The table has the stand-in in its place: no message comes to it any more.
  void forget_spawned(const RankState& rank);
  /// A rank of another process: the table has the stand-in for it.
  RankState& learn_spawned(std::int32_t number);

  /// The stand-in of ranks that are not here, or have ended.
  [[nodiscard]] RankState& ended_rank() { return *remote_rank_; }

  /// While all workers are stopped: whether no nonblocking collective is in progress, or kept by a
  /// persistent request.
  [[nodiscard]] bool has_idle_operations() const;

 private:
  [[nodiscard]] RankState* make_rank(std::int32_t world_rank, core::Worker& worker);
  void enter_spawned(std::int32_t number, RankState& rank);

  /// Workers may pass packets to ranks of other ones, also when these have ended.
  [[nodiscard]] bool passes_packets() const {
    return transport() != nullptr && balancer_ != nullptr;
  }

  /// Placeholder for every rank of another process.
  std::unique_ptr<RankState> remote_rank_;
  std::unique_ptr<Request> remote_request_;
  std::vector<std::unique_ptr<WorkerState>> states_;
  const std::unique_ptr<Safepoint> safepoint_if_any_;
  std::unique_ptr<RankBalancer> balancer_;
  const TuningTable tuning_;
  /// Valid from begin_move() to end_move().
  std::vector<CommShared*> moving_comms_;
  CommShared* job_comm_ = nullptr;
  ProcessCalls calls_;
  const std::unique_ptr<PortService> ports_;
  SpawnService* spawns_ = nullptr;
  /// Ends after the communicators of the world.
  std::unique_ptr<SpawnedRanks> spawned_;
};

/// On the thread of the rank's worker, at its end: sends the packets that other processes may still
/// need.
void drain(const WorkerState& state);

/// The stack of the fiber that the rank's worker runs, if it is that of a nonblocking collective.
/// Also in a signal handler of the worker's thread.
[[nodiscard]] std::optional<core::FiberPool::Stack> operation_stack_of(const RankState& rank);

/// Whether a nonblocking operation of the rank runs on a fiber of its own. On the rank's worker.
[[nodiscard]] bool has_operation_in_progress(const RankState& rank);

}  // namespace sorrel::mpi
