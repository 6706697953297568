//! SpawnedRanks - the ranks of a process that MPI_Comm_spawn has started: their places, their
//! beginning and their end.
//!
//! A rank's *number* is its identity in the job, in groups and in messages. It is never used again,
//! so that a group of ranks that have ended equals no later group. In a job of several processes it
//! says on which worker the rank lives (RankLayout), so no process tells the others. A *place* is
//! what it runs in, a stack, an image and a heap; the next rank gets it when the rank has ended.
//!
//! A rank is made in a fiber of the root of the spawn, by any worker. It starts, ends and is
//! deleted on its own worker, when that leaves its fibers (SchedulerHooks::on_attention()):
//!
//! 1. start(): its fiber is made and is ready.
//! 2. end(): the fiber has ended, and runs no longer on its stack. The place is cleared and free.
//! 3. The state of the rank is deleted when no communicator has it as a member. Since a message may
//!    be on its way to a rank that has ended, its worker first takes what is in its mailboxes: what
//!    was sent before the last communicator ended is there by then. In a traced run it is kept,
//!    since its address names the rank in the trace.
//!
//! One lock for lists; hooks are called without it. Nothing here is touched by a message.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

class ProcessWorld;

/// What the owner of places does, on the rank's worker and outside of its fiber.
class SpawnedRankHooks {
 public:
  virtual ~SpawnedRankHooks() = default;
  /// Makes its fiber ready.
  virtual void begin_spawned(RankState& rank) = 0;
  /// The rank has ended, or will not run. False: something of it is in use for ever, and so is its
  /// place.
  virtual bool end_spawned(RankState& rank) = 0;
};

class SpawnedRanks {
 public:
  /// For places from `first_place` on.
  SpawnedRanks(ProcessWorld& world, std::int32_t first_place, std::int32_t place_count);
  SpawnedRanks(const SpawnedRanks&) = delete;
  SpawnedRanks& operator=(const SpawnedRanks&) = delete;
  ~SpawnedRanks();

  /// Places that no rank has.
  [[nodiscard]] std::int32_t free_count();

  /// Ranks that have started and still have their places. Any thread.
  [[nodiscard]] std::size_t live_count();

  /// Whether a rank has finalized MPI and still has its place. Any thread.
  [[nodiscard]] bool are_any_leaving();

  /// Ranks without an MPI_COMM_WORLD, on the workers with the fewest ranks. Empty if there are too
  /// few places, or no more numbers.
  [[nodiscard]] std::vector<RankState*> make(std::int32_t count);

  /// They do not run after all. Their hooks have been called.
  void drop(std::span<RankState* const> ranks);

  /// Their workers start them soon.
  void start(std::span<RankState* const> ranks);

  /// In the rank's fiber, which ends next.
  void end(RankState& rank);

  /// No communicator, and nothing else, has the rank any more. Any thread.
  void release(RankState& rank);

  /// On the worker's thread, outside of fibers that end.
  void progress(core::Worker& worker, SpawnedRankHooks& hooks);

  /// When the worker has run its last fiber: frees what its ranks have of it.
  void end_worker(core::Worker& worker);

  /// The number of the rank that has a place, or had it last; -1: none. Any thread, and signal
  /// handlers.
  [[nodiscard]] std::int32_t number_in(std::int32_t place) const {
    return numbers_[static_cast<std::size_t>(place - first_place_)].load(std::memory_order_relaxed);
  }

  /// Calls visit(rank) for each that has not ended, under the lock.
  template <class Visit>
  void for_each(Visit&& visit) {
    const std::scoped_lock lock(mutex_);
    for (RankState* rank : live_)
      visit(*rank);
  }

  /// retain_member() of a world that may spawn.
  [[nodiscard]] RankState& retain(std::int32_t number);

  /// The number of spawned ranks whose state exists.
  [[nodiscard]] std::size_t state_count();

 private:
  std::vector<RankState*> make_states(std::int32_t count);
  [[nodiscard]] bool are_numbers_left(std::int32_t count) const;
  [[nodiscard]] std::int32_t next_number(std::uint32_t worker);

  /// What a worker has to do.
  struct Work {
    std::vector<RankState*> starting;
    std::vector<RankState*> ending;
    /// Without holders; those of `deleted_next` have been so at the last call of progress().
    std::vector<RankState*> unused;
    std::vector<RankState*> deleted_next;
    std::int32_t rank_count = 0;
    /// Ranks that have been made here.
    std::int32_t made_count = 0;
  };

  [[nodiscard]] Work& work_of(const core::Worker& worker);
  [[nodiscard]] std::uint32_t emptiest_worker() const;
  void begin(RankState& rank, SpawnedRankHooks& hooks);
  [[nodiscard]] bool try_end(RankState& rank, SpawnedRankHooks& hooks);
  void leave_place(RankState& rank, bool is_free);
  void destroy(RankState& rank);

  ProcessWorld& world_;
  const std::int32_t first_place_;
  std::mutex mutex_;
  /// Descending.
  std::vector<std::int32_t> free_places_;
  std::vector<RankState*> live_;
  std::vector<RankState*> states_;
  std::vector<Work> works_;
  /// By place. Relaxed: for reports.
  std::vector<std::atomic<std::int32_t>> numbers_;
  std::vector<std::unique_ptr<RankState>> kept_for_trace_;
};

/// The rank of this number, which a communicator has as a member until release_member(). The
/// stand-in, if the rank is not here, or has ended and no communicator has it. Any thread.
[[nodiscard]] RankState& retain_member(World& world, std::int32_t number);

void release_member(RankState& rank);

/// Before messages to a rank of another process that may be in no communicator: its number has come
/// from there. Any thread.
void learn_rank(World& world, std::int32_t number);

}  // namespace sorrel::mpi
