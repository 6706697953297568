#include "omp/region/bound_threads.hpp"

#include <span>
#include <utility>

#include "omp/icv/environment.hpp"
#include "omp/region/affinity.hpp"
#include "omp/sched/own_thread_claim.hpp"
#include "os/cpu_set.hpp"

namespace sorrel::omp {

namespace {

void bind_to(TeamThread& thread, std::uint32_t place) {
  if (thread.bound_place == place) return;
  claim_own_thread();
  if (!thread.is_native() && !thread.is(on_own_thread)) return;
  os::set_allowed_cpus(0, binding_of(thread).places[place]);
  thread.bound_place = place;
}

/// Whether what the team's threads display differs from what the master has displayed last: then
/// they display it. After a nested region has, one around it differs again.
bool is_to_be_displayed(NestLevel& nest_level, const DisplayedTeam& team) {
  if (!environment().displays_affinity || nest_level.displayed == team) return false;
  nest_level.displayed = team;
  for (NestLevel* outer = nest_level.outer; outer != nullptr; outer = outer->outer)
    outer->displayed = {};
  return true;
}

}  // namespace

const Binding& binding_of(const TeamThread& thread) {
  return binding(!may_own_threads(thread));
}

Bind bind_of(const TeamThread& thread) {
  const Binding& own = binding_of(thread);
  if (!own.is_on()) return Bind::none;
  return thread.team->places != nullptr ? thread.team->bind : own.binds.front();
}

MemberPlace place_of(const TeamThread& thread) {
  std::uint32_t number = thread.number;
  for (const Team* team = thread.team; team != nullptr; team = team->parent) {
    if (team->places != nullptr) return team->places[number];
    number = team->outer_state.number;
  }
  const auto count = static_cast<std::uint32_t>(binding_of(thread).places.size());
  return {.number = 0, .first = 0, .count = count};
}

void bind_native(TeamThread& thread) {
  thread.bound_place = TeamThread::no_place;
  if (binding_of(thread).is_on()) bind_to(thread, 0);
}

void prepare_affinity(TeamThread& master, NestLevel& nest_level, Team& team) {
  const Binding& own = binding_of(master);
  DisplayedTeam now{.size = team.size};
  if (own.is_on()) {
    const std::uint32_t clause = std::exchange(master.pushed_bind, 0);
    const Bind bind = clause != 0 ? static_cast<Bind>(clause) : bind_of(master);
    // The list of policies goes on with each level; after its end, threads inherit that of the
    // team.
    team.bind = team.level < own.binds.size() ? own.binds[team.level] : bind;
    if (team.places == nullptr) team.places = new MemberPlace[team.size];
    const MemberPlace place = place_of(master);
    distribute(bind, place, std::span(team.places, team.size));
    now.bind = bind;
    now.place = place.number;
  }
  team.displays_affinity = is_to_be_displayed(nest_level, now);
  team.has_affinity = own.is_on() || team.displays_affinity;
}

void enter_with_affinity(TeamThread& thread) {
  const Team& team = *thread.team;
  if (team.places != nullptr) bind_to(thread, team.places[thread.number].number);
  if (team.displays_affinity) display_affinity(thread, nullptr);
}

}  // namespace sorrel::omp
