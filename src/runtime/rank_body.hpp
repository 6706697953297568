//! RankBody - the code that a job runs for each rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/worker.hpp"
#include "mpi/comm/spawn_command.hpp"
#include "mpi/match/rank_state.hpp"
#include "runtime/base/body_view.hpp"
#include "runtime/program_states.hpp"

namespace sorrel::runtime {

class RankBody : public BodyView {
 public:
  /// On the rank's worker, before any rank runs. False: the job ends with the message in `error`.
  virtual bool prepare(mpi::RankState& rank, const char** error) = 0;

  /// On a worker whose attention was requested, outside of any fiber. Must not suspend.
  virtual void on_attention(core::Worker& /*worker*/) {}

  /// First on each thread that runs workers.
  virtual void on_thread_start() {}

  /// At a switch to a fiber with other settings (core::SchedulerHooks).
  virtual void on_settings_change(core::Worker& /*worker*/, const core::Fiber& /*next*/) {}

  /// On the new thread of a rank that leaves its worker (runtime/rank_guests.hpp).
  virtual void on_move_out(mpi::RankState& /*rank*/) {}

  /// The threads that a rank has started and that have not ended. Any thread.
  [[nodiscard]] virtual std::int32_t started_thread_count(const mpi::RankState& /*rank*/) const {
    return 0;
  }

  /// Whether an idle worker may run the rank until its next call (core::SchedulerHooks).
  [[nodiscard]] virtual bool may_lend(const mpi::RankState& /*rank*/) const { return true; }

  /// Whether another worker may run the rank from its next call on, as its own.
  [[nodiscard]] virtual bool may_move(const mpi::RankState& /*rank*/) const { return true; }

  /// Called once, when every rank is prepared and none has run.
  virtual void on_all_prepared() {}

  /// On the rank's own stack; returns its exit status. May suspend.
  virtual int run(mpi::RankState& rank) = 0;

  /// What checkpoints and moves between processes need.
  [[nodiscard]] virtual ProgramStates& states() { return no_states_; }

  /// Makes the rank's output so far visible. Called when the job ends early.
  virtual void flush(mpi::RankState& rank) = 0;

  // For ranks that are spawned (mpi/job/spawned_ranks.hpp).

  /// mpi::JobControl::find_program().
  [[nodiscard]] virtual mpi::FoundProgram find_program(const mpi::SpawnCommand& /*command*/) {
    return {.error = "ranks cannot be spawned here", .file = {}, .is_own = false};
  }

  /// As prepare(), outside of the ranks' fibers: new ranks, which run the program of `command`.
  /// Returns why not, for a user; "": all are prepared.
  [[nodiscard]] virtual std::string prepare_spawned(std::span<mpi::RankState* const> /*ranks*/,
                                                    const mpi::SpawnCommand& /*command*/) {
    return "ranks cannot be spawned here";
  }

  /// A rank has ended, or was prepared and will not run, or was not prepared. False: something that
  /// it has left is in use, and its place cannot be given to another rank.
  virtual bool end_spawned(const mpi::RankState& /*rank*/) { return true; }

 private:
  ProgramStates no_states_;
};

}  // namespace sorrel::runtime
