//! Entry to loops: finds the team for the calling thread and runs its loops.
//!
//! On a worker of a job that is the job's FiberTeam. On any other thread of a plain program it is
//! the process's ThreadTeam, created at the first loop. A thread that a rank of a job has started
//! runs its loops alone, because the job's cores are taken. Any thread. May suspend.
#pragma once

#include <cstdint>
#include <optional>

#include "governor/settings.hpp"
#include "loop/split/chunk_plan.hpp"
#include "loop/team/slot.hpp"

namespace sorrel::loop {

struct LoopOptions {
  Schedule schedule = Schedule::automatic;
  /// Iterations of the smallest chunk; 0: not given.
  std::int64_t grain = 0;
  /// Limit of threads, the caller included, beside that of limit_threads(); 0: none.
  std::uint32_t threads_max = 0;
  /// If no helper could join, nothing is run, and the outcome is not_shared.
  bool is_shared_only = false;
  /// The program's function that runs iterations, as traces name the loop; 0: the body.
  std::uintptr_t code = 0;
};

/// Runs `body` on all of `iterations`. If a body returns a value other than go_on, returns that
/// value, and some iterations may not have run. The body must not throw.
int run(Iterations iterations, Body body, void* argument, const LoopOptions& options);

/// How many threads a loop of the calling thread or rank may use now, itself included.
std::uint32_t width_now();

/// Limits the loops that the calling thread or rank starts; 0: no limit. Returns the limit before.
std::uint32_t limit_threads(std::uint32_t count);

/// Fixes the number of threads: at the present value, or at `width`. Returns it.
std::uint32_t freeze_width(std::optional<std::uint32_t> width);

/// Called once at start by a library that runs jobs: threads that are no workers run loops alone.
/// `settings` are for the loops of the job's ranks.
void join_job(const governor::Settings& settings);

/// The settings of the environment; diagnostics go to stderr.
governor::Settings settings_of_environment(std::uint32_t cpus);

}  // namespace sorrel::loop
