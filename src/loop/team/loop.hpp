//! Loops, whoever calls: finds the team that the calling thread's loops belong to, and runs them.
//!
//! On a worker of a job that is the job's FiberTeam; on any other thread of a plain program the
//! process's ThreadTeam, made at the first loop. A thread that a rank of a job has started runs its
//! loops alone: the job's cores are taken. Any thread. May suspend.
#pragma once

#include <cstdint>
#include <optional>

#include "loop/split/chunk_plan.hpp"
#include "loop/team/settings.hpp"
#include "loop/team/slot.hpp"

namespace sorrel::loop {

struct LoopOptions {
  Schedule schedule = Schedule::automatic;
  /// Iterations of the smallest chunk; 0: none is asked for.
  std::int64_t grain = 0;
  /// At most so many threads, the caller included; 0: as many as there are.
  std::uint32_t threads_max = 0;
};

/// Runs `body` on all of `iterations`; returns what it returned if that was not go_on, and then
/// some iterations may not have run. The body must not throw.
int run(Iterations iterations, Body body, void* argument, const LoopOptions& options);

/// How many threads a loop of the calling thread may use now, itself included.
std::uint32_t width_now();

/// The number of threads is not changed any more: it stays, or becomes `width`. Returns it.
std::uint32_t freeze_width(std::optional<std::uint32_t> width);

/// Set once at start by a library that runs jobs: threads that are no workers run loops alone.
/// `settings` for the loops of the job's ranks.
void be_part_of_a_job(const Settings& settings);

/// The settings of the environment; what is wrong there is said on stderr.
Settings settings_of_environment(std::uint32_t cpus);

}  // namespace sorrel::loop
