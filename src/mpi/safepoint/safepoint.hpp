//! Safepoint - a moment at which the ranks wait where their state is known, while all workers are
//! stopped: then the job can be saved, and ranks can change their worker or process.
//!
//! One poll and one decision, at the root of each barrier of all ranks (CollectiveSlots): wanted(),
//! and when the members of all processes have arrived, decide(). For a safepoint of the process
//! alone the members stay in the barrier. For one of the job each rank calls enter() at the end of
//! its call, waits below its frames, and goes on from there: in this process, or in another one to
//! which its stack has been brought. README.md has the protocol and the proofs.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "arch/context.hpp"
#include "core/exception_state.hpp"
#include "core/job_stop.hpp"
#include "core/later_balance.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/safepoint/participant.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::mpi {

/// What follows a barrier of all ranks.
enum class SafepointDecision : std::uint8_t {
  none,
  at_end_of_call,  ///< Every member calls Safepoint::enter() at the end of its call.
  in_barrier       ///< The members are not released yet.
};

/// A rank that waits at the end of its call. On its stack, above where it waits.
struct WaitingRank {
  /// From here on its stack is its own.
  arch::Context resume = nullptr;
  RankState* rank = nullptr;
  /// Waits for the end.
  core::Fiber* fiber = nullptr;
  /// Why its stack is not all that it needs to go on; null: it is.
  const char* reason = nullptr;
  bool handles_exception = false;
  /// What enter() returns.
  int outcome = 0;
};

class Safepoint final : private core::JobStopAction {
 public:
  /// The world outlives it. Before the workers run.
  explicit Safepoint(World& world);

  // Before the workers run. Participants outlive the safepoint.
  /// If several want a safepoint at once, the one that was added first gets it.
  void add(SafepointParticipant& participant);

  void set_process_participant(ProcessParticipant& participant) { process_ = &participant; }

  /// On the worker at the root of the barriers of all ranks: what this process wants, as bits that
  /// are combined with those of the other processes. Once those of this process have arrived.
  [[nodiscard]] std::uint32_t wanted();

  /// In every process, when all ranks of the job have arrived in the barrier of `slots`. `wanted`:
  /// of all processes.
  [[nodiscard]] SafepointDecision decide(CollectiveSlots& slots, std::uint32_t wanted);

  // In place of wanted(), for the first node of a pair: in a job of one process.
  /// When the ranks of the root's worker have arrived: what the participants wish.
  [[nodiscard]] std::uint32_t wishes();

  /// Any time: false in a job that is not saved, and not balanced yet.
  [[nodiscard]] bool may_begin() const {
    return !participants_.empty() || core::balance_stage() != core::BalanceStage::postponed;
  }

  /// When wishes() is called: whether a safepoint of the process may begin.
  [[nodiscard]] bool is_process_due() const { return process_ != nullptr && process_->is_due(); }

  /// When all ranks have arrived: wanted(), from what wishes() has returned.
  [[nodiscard]] std::uint32_t wanted_of(std::uint32_t wishes);

  /// At the end of a call of the rank, the poll of ranks: whether it is to call enter().
  [[nodiscard]] bool is_due(RankState& rank) {
    // A job of one rank has no barriers.
    return std::exchange(rank.is_safepoint_due, false) || (world_.size() == 1 && begin(wanted()));
  }

  /// On the rank's own stack, when is_due(). The rank may return in another process, and nothing of
  /// this one is used afterwards. May suspend.
  void enter(RankState& rank);

  /// A collective call of all ranks, for a safepoint that nothing has decided. Returns the result
  /// of participant.run(), or what the rank got in another process. May suspend.
  [[nodiscard]] int enter(RankState& rank, SafepointParticipant& participant);

  // In SafepointParticipant::run().
  [[nodiscard]] WaitingRank& waiting(const RankState& rank) const {
    return *waiting_[static_cast<std::size_t>(rank.world_rank)];
  }

  /// The part of the stack that a rank needs when it goes on.
  [[nodiscard]] os::MemoryRange stack_of(const RankState& rank) const;

  /// The rank does not go on in this process.
  void forget(const RankState& rank);

  // For the process participant: the slots of communicators with several members. Any thread; read
  // while all workers are stopped.
  void add(CollectiveSlots& slots);
  void remove(CollectiveSlots& slots);

  [[nodiscard]] const std::vector<CollectiveSlots*>& slots() const { return slots_; }

 private:
  struct Frame;

  [[nodiscard]] bool begin(std::uint32_t wanted);
  [[nodiscard]] std::int32_t threaded_rank();
  [[nodiscard]] bool handles_exception() const;
  static void wait_below(void* argument);
  [[nodiscard]] int join(WaitingRank& waiting, SafepointParticipant& participant);
  void stop_job(core::Worker& worker);
  void release(int outcome);

  [[nodiscard]] bool is_quiet() override;
  void on_job_stopped(core::JobStop& stop) override;
  void on_job_resumed(core::Worker& requester, bool was_stopped) override;

  World& world_;
  const core::GetExceptionState exception_state_;
  std::vector<SafepointParticipant*> participants_;
  ProcessParticipant* process_ = nullptr;

  // On the worker at the root of the barriers of all ranks, or while the job is stopped.
  /// All ranks are to enter(): until they have, no barrier begins another safepoint.
  bool is_begun_ = false;
  /// For which it has begun; read by the ranks when they are released.
  SafepointParticipant* begun_for_ = nullptr;
  /// A rank of this process whose threads may be in a collective; -1: none, once they have been
  /// looked at.
  std::int32_t threaded_rank_ = -1;
  bool has_looked_for_threads_ = false;

  /// By the rank's number in the job, while it waits. Published by the counter.
  std::vector<WaitingRank*> waiting_;
  // Acquire and release: the last one sees what the others have left.
  std::atomic<std::int32_t> arrived_count_{0};
  // While the job is stopped, or by the last rank to arrive.
  core::Fiber* last_ = nullptr;
  SafepointParticipant* running_ = nullptr;
  bool is_over_ = false;
  int outcome_ = 0;

  /// Communicators are made and freed on any worker.
  std::mutex slots_mutex_;
  std::vector<CollectiveSlots*> slots_;
};

}  // namespace sorrel::mpi
