#include "omp/region/teams.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include "omp/icv/environment.hpp"
#include "omp/region/region.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/team/team.hpp"

namespace sorrel::omp {

namespace {

/// Teams of a construct for which the program requests no number.
constexpr std::uint32_t team_count_default = 3;

/// A setting that the program has changed, or that of the environment.
constexpr std::uint64_t unset = ~std::uint64_t{0};
std::atomic<std::uint64_t> team_count{unset};
std::atomic<std::uint64_t> teams_thread_limit{unset};

std::uint32_t setting(const std::atomic<std::uint64_t>& changed, std::uint32_t from_environment) {
  // Relaxed: a number by itself.
  const std::uint64_t value = changed.load(std::memory_order_relaxed);
  return value == unset ? from_environment : static_cast<std::uint32_t>(value);
}

void limit_threads(TeamThread& thread, std::uint32_t limit) {
  if (limit != 0) thread.icv.thread_limit = std::min(thread.icv.thread_limit, limit);
}

}  // namespace

void run_teams(TeamThread& thread, void (*body)(void*), void* data, const Teams& teams) {
  Team& team = *thread.team;
  const Icv icv = thread.icv;
  std::uint32_t count = teams.count != 0 ? teams.count : team_count_setting();
  if (count == 0) count = team_count_default;
  team.league_size = count;
  std::optional<ToldLeague> told;
  if (has_tool()) told.emplace(thread, count);
  for (std::uint32_t i = 0; i < count; ++i) {
    team.league_number = i;
    limit_threads(thread,
                  teams.thread_limit != 0 ? teams.thread_limit : teams_thread_limit_setting());
    if (told) told->tell_team(ompt::Endpoint::begin);
    call_task(thread, body, data);
    if (told) told->tell_team(ompt::Endpoint::end);
    thread.icv = icv;
  }
  team.league_size = 1;
  team.league_number = 0;
}

bool next_team(TeamThread& thread, bool is_first, const Teams& teams) {
  Team& team = *thread.team;
  if (is_first) {
    if (teams.thread_limit != 0) thread.icv.thread_limit = teams.thread_limit;
    team.league_size = std::max(teams.count, 1U);
    team.league_number = 0;
    return true;
  }
  if (team.league_number + 1 >= team.league_size) return false;
  ++team.league_number;
  return true;
}

std::uint32_t team_count_setting() {
  return setting(team_count, environment().team_count);
}

void set_team_count(std::uint32_t count) {
  team_count.store(count, std::memory_order_relaxed);
}

std::uint32_t teams_thread_limit_setting() {
  return setting(teams_thread_limit, environment().teams_thread_limit);
}

void set_teams_thread_limit(std::uint32_t limit) {
  teams_thread_limit.store(limit, std::memory_order_relaxed);
}

}  // namespace sorrel::omp
