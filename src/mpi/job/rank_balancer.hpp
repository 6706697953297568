//! RankBalancer - measures the ranks of a process and changes their workers (src/balance has the
//! policy, README.md the protocol).
//!
//! The places of the plan are threads: while the process may use fewer threads than it has workers,
//! several workers share one, and the ranks are distributed evenly over the threads.
//!
//! In a job of several processes, each balances the ranks that it has. Measured at collectives in
//! which all ranks take part; most of them end without any difference. When moves are worth it, the
//! members stay in their barrier, a safepoint of the process (mpi/safepoint): all workers stop
//! (core/scheduler.hpp), the ranks change their workers, and the members go on there. Ranks that
//! were spawned stay where they are, and while there are any, so do the others: spawned ranks may
//! be in barriers of other communicators.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "balance/policy.hpp"
#include "base/prng.hpp"
#include "core/cycle_clock.hpp"
#include "core/scheduler.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/safepoint/participant.hpp"

namespace sorrel::mpi {

class ProcessWorld;

/// For the report at the end of a job.
struct BalanceReport {
  balance::PolicyCounts policy;
  /// Steps that were planned and made nothing: a worker was late, or something was on its way.
  std::uint64_t late_stops = 0;
  std::uint64_t busy_stops = 0;
  /// Moves of ranks that had to stay.
  std::uint64_t refused_moves = 0;
  /// Seconds in which the ranks waited for steps.
  double waited_seconds = 0;
};

class RankBalancer final : public ProcessParticipant, private core::StopAction {
 public:
  /// With a seed, ranks change their worker at random in every collective, for tests.
  RankBalancer(ProcessWorld& world, std::optional<std::uint64_t> shuffle_seed);

  [[nodiscard]] bool is_due() const override;
  bool begin_in(CollectiveSlots& slots) override;

  /// While all workers are stopped: other ranks are in the process.
  void on_ranks_changed();

  /// When no rank runs.
  [[nodiscard]] BalanceReport report() const;

 private:
  void on_stopped() override;
  void on_resumed(core::Worker& requester) override;
  [[nodiscard]] bool plan();
  [[nodiscard]] RankState& rank_at(std::size_t index) const;
  void shuffle();
  [[nodiscard]] bool follow_width(std::uint64_t now);
  void measure();
  [[nodiscard]] std::uint32_t place_of(const RankState& rank) const;
  [[nodiscard]] core::Worker& receiver_at(std::uint32_t place) const;
  [[nodiscard]] bool is_alone() const;
  [[nodiscard]] bool waits_in_awaited(const RankState& rank) const;
  [[nodiscard]] bool may_step() const;
  [[nodiscard]] bool may_move(const RankState& rank) const;
  void move_ranks();
  void move(RankState& rank, core::Worker& to);

  ProcessWorld& world_;
  const core::CycleClock clock_;
  const std::uint64_t window_cycles_;
  balance::Policy policy_;
  std::optional<Prng> random_;

  // On the thread of the root's worker, or while all workers are stopped.
  std::uint64_t window_began_ = 0;
  /// Counters of the ranks at that time.
  std::vector<std::uint64_t> counted_;
  std::vector<balance::RankLoad> loads_;
  /// Number of the threads that the process may use, and since when.
  std::uint32_t width_;
  std::uint64_t width_since_ = 0;
  const std::uint64_t settled_cycles_;
  /// In whose barrier the ranks wait.
  CollectiveSlots* awaited_ = nullptr;
  /// True from a request to stop until on_resumed() has ended.
  std::atomic<bool> is_pending_{false};
  std::uint64_t began_ = 0;
  bool was_stopped_ = false;
  bool is_released_ = false;
  std::vector<balance::Move> planned_;
  std::vector<balance::Move> made_;
  BalanceReport report_;
};

}  // namespace sorrel::mpi
