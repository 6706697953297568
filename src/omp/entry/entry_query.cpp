// omp_*: queries and settings of the program, for C; no logic. entry_fortran.cpp has Fortran's
// names.
#include <algorithm>
#include <time.h>
#include <vector>

#include "omp/entry/device.hpp"
#include "omp/entry/entry_point.hpp"
#include "omp/icv/affinity_text.hpp"
#include "omp/icv/environment.hpp"
#include "omp/region/affinity.hpp"
#include "omp/region/bound_threads.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/region.hpp"
#include "omp/region/teams.hpp"
#include "omp/sched/group.hpp"
#include "omp/tasking/tasking.hpp"

namespace {

using namespace sorrel::omp;

int to_int(std::uint32_t number) {
  return static_cast<int>(std::min<std::uint32_t>(number, 0x7FFF'FFFF));
}

/// The team of `level`, or null if there is none.
const Team* team_at(const TeamThread& thread, int level) {
  const Team* team = thread.team;
  if (level < 0 || level > static_cast<int>(team->level)) return nullptr;
  while (static_cast<int>(team->level) > level)
    team = team->parent;
  return team;
}

const std::vector<Place>& places() {
  return binding_of(this_thread()).places;
}

bool has_place(int number) {
  return number >= 0 && static_cast<std::size_t>(number) < places().size();
}

/// Ends the threads of the caller's teams. -1: the caller is in a region.
int end_own_fibers() {
  TeamThread& thread = this_thread();
  const Group& group = *thread.group;
  if (thread.team->level != 0 || thread.innermost_level != nullptr) return -1;
  // The threads of a rank that shares its process do not end before the process.
  if (thread.is_native() && group.job == nullptr) (void)group.hooks.end_fibers(thread);
  return 0;
}

}  // namespace

SORREL_ENTRY_POINT int omp_get_thread_num() {
  return to_int(this_thread().number);
}

SORREL_ENTRY_POINT int omp_get_num_threads() {
  return to_int(this_thread().team->size);
}

SORREL_ENTRY_POINT int omp_get_max_threads() {
  return to_int(this_thread().icv.thread_count);
}

SORREL_ENTRY_POINT void omp_set_num_threads(int count) {
  this_thread().icv.thread_count = static_cast<std::uint32_t>(std::max(count, 1));
}

SORREL_ENTRY_POINT int omp_get_num_procs() {
  return to_int(environment().cpus);
}

SORREL_ENTRY_POINT int omp_in_parallel() {
  return this_thread().team->active_level > 0 ? 1 : 0;
}

SORREL_ENTRY_POINT int omp_in_explicit_task() {
  return this_thread().task->level != 0 ? 1 : 0;
}

SORREL_ENTRY_POINT int omp_in_final() {
  return this_thread().task->is_final ? 1 : 0;
}

SORREL_ENTRY_POINT void omp_set_dynamic(int is_dynamic) {
  this_thread().icv.is_dynamic = is_dynamic != 0;
}

SORREL_ENTRY_POINT int omp_get_dynamic() {
  return this_thread().icv.is_dynamic ? 1 : 0;
}

SORREL_ENTRY_POINT void omp_set_max_active_levels(int levels) {
  if (levels >= 0)
    this_thread().icv.active_levels_max =
        static_cast<std::uint8_t>(std::min<int>(levels, active_levels_supported));
}

SORREL_ENTRY_POINT int omp_get_max_active_levels() {
  return to_int(this_thread().icv.active_levels_max);
}

SORREL_ENTRY_POINT int omp_get_supported_active_levels() {
  return static_cast<int>(active_levels_supported);
}

SORREL_ENTRY_POINT void omp_set_nested(int is_nested) {
  std::uint8_t& levels = this_thread().icv.active_levels_max;
  if (is_nested == 0) {
    levels = std::min<std::uint8_t>(levels, 1);
  } else if (levels <= 1) {
    levels = active_levels_supported;
  }
}

SORREL_ENTRY_POINT int omp_get_nested() {
  const TeamThread& thread = this_thread();
  return thread.icv.active_levels_max > 1 &&
                 thread.icv.active_levels_max > thread.team->active_level
             ? 1
             : 0;
}

SORREL_ENTRY_POINT int omp_get_level() {
  return to_int(this_thread().team->level);
}

SORREL_ENTRY_POINT int omp_get_active_level() {
  return to_int(this_thread().team->active_level);
}

SORREL_ENTRY_POINT int omp_get_ancestor_thread_num(int level) {
  const TeamThread& thread = this_thread();
  if (level == to_int(thread.team->level)) return to_int(thread.number);
  if (level < 0 || level > to_int(thread.team->level)) return -1;
  const Team* inner = team_at(thread, level + 1);
  return to_int(inner->outer_state.number);
}

SORREL_ENTRY_POINT int omp_get_team_size(int level) {
  const Team* team = team_at(this_thread(), level);
  return team == nullptr ? -1 : to_int(team->size);
}

SORREL_ENTRY_POINT int omp_get_thread_limit() {
  return to_int(this_thread().icv.thread_limit);
}

SORREL_ENTRY_POINT void omp_set_schedule(unsigned kind, int chunk) {
  constexpr unsigned monotonic = 0x8000'0000U;
  Icv& icv = this_thread().icv;
  const unsigned number = kind & ~monotonic;
  if (number < 1 || number > 4) return;
  icv.schedule = static_cast<Schedule>(number);
  icv.is_monotonic = (kind & monotonic) != 0;
  const std::int64_t least = icv.schedule == Schedule::fixed ? 0 : 1;
  icv.chunk = icv.schedule == Schedule::automatic ? 0 : std::max<std::int64_t>(chunk, least);
}

SORREL_ENTRY_POINT void omp_get_schedule(unsigned* kind, int* chunk) {
  const Icv& icv = this_thread().icv;
  *kind = static_cast<unsigned>(icv.schedule) | (icv.is_monotonic ? 0x8000'0000U : 0U);
  *chunk = static_cast<int>(icv.chunk);
}

SORREL_ENTRY_POINT int omp_get_proc_bind() {
  return static_cast<int>(bind_of(this_thread()));
}

SORREL_ENTRY_POINT int omp_get_cancellation() {
  return environment().can_cancel ? 1 : 0;
}

SORREL_ENTRY_POINT int omp_get_max_task_priority() {
  return environment().task_priority_max;
}

SORREL_ENTRY_POINT double omp_get_wtime() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

SORREL_ENTRY_POINT double omp_get_wtick() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + static_cast<double>(resolution.tv_nsec) * 1e-9;
}

// Devices: only the host.
SORREL_ENTRY_POINT void omp_set_default_device(int device) {
  this_thread().icv.default_device = std::max(device, 0);
}

SORREL_ENTRY_POINT int omp_get_default_device() {
  return this_thread().icv.default_device;
}

SORREL_ENTRY_POINT int omp_get_num_devices() {
  return 0;
}

SORREL_ENTRY_POINT int omp_get_device_num() {
  return 0;
}

SORREL_ENTRY_POINT int omp_get_initial_device() {
  return 0;
}

SORREL_ENTRY_POINT int omp_is_initial_device() {
  return 1;
}

// Teams.
SORREL_ENTRY_POINT int omp_get_num_teams() {
  return to_int(this_thread().team->league_size);
}

SORREL_ENTRY_POINT int omp_get_team_num() {
  return to_int(this_thread().team->league_number);
}

SORREL_ENTRY_POINT void omp_set_num_teams(int count) {
  if (count >= 0) set_team_count(static_cast<std::uint32_t>(count));
}

SORREL_ENTRY_POINT int omp_get_max_teams() {
  return to_int(team_count_setting());
}

SORREL_ENTRY_POINT void omp_set_teams_thread_limit(int limit) {
  if (limit >= 0) set_teams_thread_limit(static_cast<std::uint32_t>(limit));
}

SORREL_ENTRY_POINT int omp_get_teams_thread_limit() {
  return to_int(teams_thread_limit_setting());
}

// Places: there are none where threads move between processors.
SORREL_ENTRY_POINT int omp_get_num_places() {
  return static_cast<int>(places().size());
}

SORREL_ENTRY_POINT int omp_get_place_num() {
  return places().empty() ? -1 : to_int(place_of(this_thread()).number);
}

SORREL_ENTRY_POINT int omp_get_place_num_procs(int number) {
  return has_place(number) ? static_cast<int>(places()[static_cast<std::size_t>(number)].size())
                           : 0;
}

SORREL_ENTRY_POINT void omp_get_place_proc_ids(int number, int* cpus) {
  if (has_place(number)) std::ranges::copy(places()[static_cast<std::size_t>(number)], cpus);
}

SORREL_ENTRY_POINT int omp_get_partition_num_places() {
  return places().empty() ? 0 : to_int(place_of(this_thread()).count);
}

SORREL_ENTRY_POINT void omp_get_partition_place_nums(int* numbers) {
  if (places().empty()) return;
  const MemberPlace own = place_of(this_thread());
  for (std::uint32_t i = 0; i < own.count; ++i)
    numbers[i] = to_int(own.first + i);
}

SORREL_ENTRY_POINT void omp_set_affinity_format(const char* format) {
  set_affinity_format(format);
}

SORREL_ENTRY_POINT std::size_t omp_get_affinity_format(char* buffer, std::size_t bytes) {
  return copy_text(affinity_format(), buffer, bytes);
}

SORREL_ENTRY_POINT void omp_display_affinity(const char* format) {
  display_affinity(this_thread(), format);
}

SORREL_ENTRY_POINT std::size_t omp_capture_affinity(char* buffer,
                                                    std::size_t bytes,
                                                    const char* format) {
  return copy_text(affinity_of(this_thread(), format), buffer, bytes);
}

SORREL_ENTRY_POINT void omp_display_env(int is_verbose) {
  std::fputs(describe(environment(), is_verbose != 0).c_str(), stderr);
}

SORREL_ENTRY_POINT int omp_pause_resource(int, int device) {
  return is_host(device) ? end_own_fibers() : -1;
}

SORREL_ENTRY_POINT int omp_pause_resource_all(int) {
  return end_own_fibers();
}
