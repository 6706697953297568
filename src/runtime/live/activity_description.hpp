//! ActivityDescription - what a rank does at a moment, as seen by its worker's thread or by
//! another.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "mpi/match/rank_state.hpp"
#include "program/state/outside_wait.hpp"
#include "runtime/base/job_view.hpp"
#include "runtime/live/rank_activity.hpp"
#include "runtime/python/lines.hpp"

namespace sorrel::runtime {

/// The place that a rank runs at.
struct RunningAt {
  const void* place = nullptr;
  /// In a call of this library.
  bool is_in_call = false;
  /// In a call of the C library: the innermost function.
  const void* c_function = nullptr;
};

struct ActivityDescription {
  RankActivity activity;
  RunningAt running;
  /// What the functions of the rank may be read in as long as the handler runs; nothing: it runs
  /// meanwhile, or may begin to.
  std::optional<PythonState> python_state;
  /// The wait outside of MPI, during which its worker runs other ranks.
  program::OutsideState outside = {};
  /// Messages that have arrived and for which no receive is posted; 0 in an outline.
  std::uint32_t unexpected_count = 0;
};

/// Complete, for a rank of the calling thread. Safe in a signal handler, which has interrupted it.
[[nodiscard]] ActivityDescription describe(const JobView& job, const mpi::RankState& rank);

/// What any thread may read of a rank that runs meanwhile.
[[nodiscard]] ActivityDescription outline(const JobView& job, const mpi::RankState& rank);

/// Calls `visit(rank)` for each rank of the worker. Safe in a signal handler.
template <class Visit>
void for_each_rank(const JobView& job, const core::Worker& worker, Visit&& visit) {
  for (const auto& world : job.worlds()) {
    if (!world->has_worker(worker)) continue;
    for (const mpi::RankState* rank : world->state_of(worker).ranks)
      visit(*rank);
  }
}

}  // namespace sorrel::runtime
