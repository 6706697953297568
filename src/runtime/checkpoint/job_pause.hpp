//! JobPause - all ranks of a process leave the frames in which they go on, and wait below them,
//! until the job has been stopped for what they wait for: to be saved, or to go on in other
//! processes.
//!
//! enter() is a collective call of all ranks of the job. A rank goes on from its frame of enter(),
//! in this process or in another one, to which its stack has been brought (rank_record.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "arch/context.hpp"
#include "core/job_stop.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/stack_slab.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::runtime {

/// A rank that waits. On its stack, above where it waits.
struct PausedRank {
  /// From here on its stack is its own.
  arch::Context resume = nullptr;
  mpi::RankState* rank = nullptr;
  /// Waits for the end.
  core::Fiber* fiber = nullptr;
  /// Why its stack is not all that it needs to go on; null: it is.
  const char* reason = nullptr;
  bool handles_exception = false;
  /// What enter() returns.
  int outcome = 0;
};

class JobPause;

/// What the ranks wait for: the action for which the job stops.
class PausePurpose : public core::JobStopAction {
 public:
  explicit PausePurpose(JobPause& pause) : pause_(pause) {}

  /// On the stack of the rank of this process that has come last: calls JobPause::stop_job(), in
  /// the last process, or lets the rank wait. May suspend.
  virtual void on_all_here(core::Worker& worker) = 0;

 protected:
  JobPause& pause_;

 private:
  [[nodiscard]] bool is_quiet() final;
  void on_job_resumed(core::Worker& requester, bool was_stopped) final;
};

class JobPause {
 public:
  /// All outlive it. Before the workers run; `first_stack` is the number in the job of the rank of
  /// the first stack.
  JobPause(mpi::ProcessWorld& world, const os::StackSlab& stacks, std::int32_t first_stack);

  /// All ranks will call enter() at the end of the collective that they are in: until end(), none
  /// of its barriers begins another pause. On the thread of the worker at the root of its barriers.
  void begin() { is_begun_ = true; }

  [[nodiscard]] bool is_begun() const { return is_begun_; }

  /// The number that was given to end(), or to the rank in another process.
  [[nodiscard]] int enter(mpi::RankState& rank, PausePurpose& purpose);

  // By the purpose.
  /// In on_all_here(): requests stops until the action has been called.
  void stop_job(core::Worker& worker, std::uint32_t action);

  /// In on_all_here() of the other processes. May suspend.
  static void wait(core::Worker& worker) { worker.suspend(); }

  // While the job is stopped, before end().
  [[nodiscard]] PausedRank& paused(const mpi::RankState& rank) const {
    return *paused_[static_cast<std::size_t>(rank.world_rank)];
  }

  /// All that a rank needs of its stack.
  [[nodiscard]] os::MemoryRange stack_of(const mpi::RankState& rank) const;

  /// The rank does not go on in this process.
  void forget(const mpi::RankState& rank);

  /// Makes the ranks ready that came here and were not forgotten.
  void end(int outcome);

 private:
  friend PausePurpose;
  struct ExceptionState;
  struct Frame;
  using GetExceptionState = ExceptionState* (*)();

  [[nodiscard]] bool handles_exception() const;
  static void wait_below(void* argument);
  [[nodiscard]] int join(PausedRank& paused, PausePurpose& purpose);

  [[nodiscard]] std::size_t stack_index(const mpi::RankState& rank) const {
    return static_cast<std::size_t>(rank.world_rank - first_stack_);
  }

  mpi::ProcessWorld& world_;
  core::JobStop& job_stop_;
  const os::StackSlab& stacks_;
  const std::int32_t first_stack_;
  /// Exception state of the calling thread, by the program's C++ library; null: it has none.
  const GetExceptionState exception_state_;

  /// By the rank's number in the job, while it waits. Published by the counter.
  std::vector<PausedRank*> paused_;
  // Acquire and release: the last one sees what the others have left.
  std::atomic<std::int32_t> arrived_count_{0};
  // While the job is stopped, or by the last one to arrive.
  core::Fiber* last_ = nullptr;
  bool is_over_ = false;
  /// On the thread of the worker at the root of the world's barriers, or while the job is stopped.
  bool is_begun_ = false;
  int outcome_ = 0;
};

}  // namespace sorrel::runtime
