//! Leagues - the teams of a teams construct on the host: they run one after another, on the thread
//! that meets the construct. Called on an OpenMP thread.
#pragma once

#include <cstdint>

#include "omp/team/team_thread.hpp"

namespace sorrel::omp {

/// The clauses of a teams construct; 0: not given.
struct Teams {
  std::uint32_t count = 0;
  std::uint32_t thread_limit = 0;
};

/// Runs `body` once for each team. May suspend.
void run_teams(TeamThread& thread, void (*body)(void*), void* data, const Teams& teams);

/// One step of a league inside a target region, whose code calls this before each team. Returns
/// whether there is a team to run.
bool next_team(TeamThread& thread, bool is_first, const Teams& teams);

/// nteams-var and teams-thread-limit-var of the process; 0: none.
[[nodiscard]] std::uint32_t team_count_setting();
void set_team_count(std::uint32_t count);
[[nodiscard]] std::uint32_t teams_thread_limit_setting();
void set_teams_thread_limit(std::uint32_t limit);

}  // namespace sorrel::omp
