// omp_*: queries and settings of the program, for C; no logic. entry_fortran.cpp has Fortran's
// names.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "omp/entry/entry_point.hpp"
#include "omp/icv/affinity_text.hpp"
#include "omp/icv/environment.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/region.hpp"
#include "omp/sched/group.hpp"
#include "omp/tasking/tasking.hpp"
#include "os/cpu_set.hpp"

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

int teams_limit = 0;
int teams_thread_limit = 0;
std::string affinity_format;

const std::string& current_affinity_format() {
  return affinity_format.empty() ? environment().affinity_format : affinity_format;
}

AffinityFields affinity_fields() {
  const TeamThread& thread = this_thread();
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return {
      .team_number = thread.group->teams_number,
      .team_count = thread.group->teams_count,
      .level = thread.team->level,
      .thread_number = thread.number,
      .thread_count = thread.team->size,
      .ancestor = thread.team->level == 0 ? -1 : static_cast<int>(thread.team->outer_state.number),
      .host = host,
      .process = getpid(),
      .native_thread = syscall(SYS_gettid),
      .cpus = sorrel::os::format_cpu_ranges(sorrel::os::allowed_cpus())};
}

/// Returned by omp_init_allocator(): the only trait that has an effect.
struct Allocator {
  std::size_t alignment = 16;
};

std::uintptr_t default_allocator = 1;  // omp_default_mem_alloc

std::size_t alignment_of(std::uintptr_t allocator) {
  constexpr std::uintptr_t predefined_max = 8;
  if (allocator == 0) allocator = default_allocator;
  if (allocator <= predefined_max) return 16;
  return reinterpret_cast<const Allocator*>(allocator)->alignment;
}

void* allocate(std::size_t alignment, std::size_t bytes, std::uintptr_t allocator) {
  if (bytes == 0) return nullptr;
  const std::size_t at = std::max(alignment, alignment_of(allocator));
  void* memory = nullptr;
  return posix_memalign(&memory, at, bytes) == 0 ? memory : nullptr;
}

void* allocate_zeroed(std::size_t alignment,
                      std::size_t count,
                      std::size_t bytes,
                      std::uintptr_t allocator) {
  if (bytes != 0 && count > SIZE_MAX / bytes) return nullptr;
  void* memory = allocate(alignment, count * bytes, allocator);
  if (memory != nullptr) std::memset(memory, 0, count * bytes);
  return memory;
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
        std::min(static_cast<std::uint32_t>(levels), active_levels_supported);
}

SORREL_ENTRY_POINT int omp_get_max_active_levels() {
  return to_int(this_thread().icv.active_levels_max);
}

SORREL_ENTRY_POINT int omp_get_supported_active_levels() {
  return static_cast<int>(active_levels_supported);
}

SORREL_ENTRY_POINT void omp_set_nested(int is_nested) {
  std::uint32_t& levels = this_thread().icv.active_levels_max;
  if (is_nested == 0) {
    levels = std::min(levels, 1U);
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
  return to_int(thread_limit_now());
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
  return static_cast<int>(this_thread().icv.bind);
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
  return to_int(this_thread().group->teams_count);
}

SORREL_ENTRY_POINT int omp_get_team_num() {
  return to_int(this_thread().group->teams_number);
}

SORREL_ENTRY_POINT void omp_set_num_teams(int count) {
  teams_limit = std::max(count, 0);
}

SORREL_ENTRY_POINT int omp_get_max_teams() {
  return teams_limit;
}

SORREL_ENTRY_POINT void omp_set_teams_thread_limit(int limit) {
  teams_thread_limit = std::max(limit, 0);
}

SORREL_ENTRY_POINT int omp_get_teams_thread_limit() {
  return teams_thread_limit;
}

// Places: threads move between cores, so there are none.
SORREL_ENTRY_POINT int omp_get_num_places() {
  return 0;
}

SORREL_ENTRY_POINT int omp_get_place_num() {
  return -1;
}

SORREL_ENTRY_POINT int omp_get_place_num_procs(int) {
  return 0;
}

SORREL_ENTRY_POINT void omp_get_place_proc_ids(int, int*) {}

SORREL_ENTRY_POINT int omp_get_partition_num_places() {
  return 0;
}

SORREL_ENTRY_POINT void omp_get_partition_place_nums(int*) {}

SORREL_ENTRY_POINT void omp_set_affinity_format(const char* format) {
  affinity_format = format;
}

SORREL_ENTRY_POINT std::size_t omp_get_affinity_format(char* buffer, std::size_t bytes) {
  return copy_text(current_affinity_format(), buffer, bytes);
}

SORREL_ENTRY_POINT void omp_display_affinity(const char* format) {
  const bool is_default = format == nullptr || *format == '\0';
  const std::string text =
      format_affinity(is_default ? current_affinity_format() : format, affinity_fields()) + "\n";
  std::fputs(text.c_str(), stderr);
}

SORREL_ENTRY_POINT std::size_t omp_capture_affinity(char* buffer,
                                                    std::size_t bytes,
                                                    const char* format) {
  const bool is_default = format == nullptr || *format == '\0';
  return copy_text(
      format_affinity(is_default ? current_affinity_format() : format, affinity_fields()), buffer,
      bytes);
}

SORREL_ENTRY_POINT void omp_display_env(int is_verbose) {
  std::fputs(describe(environment(), is_verbose != 0).c_str(), stderr);
}

SORREL_ENTRY_POINT int omp_pause_resource(int, int) {
  return omp_in_parallel() == 0 ? 0 : -1;
}

SORREL_ENTRY_POINT int omp_pause_resource_all(int) {
  return omp_in_parallel() == 0 ? 0 : -1;
}

// Memory: only one kind.
SORREL_ENTRY_POINT std::uintptr_t omp_init_allocator(std::uintptr_t,
                                                     int count,
                                                     const std::uintptr_t* traits) {
  constexpr std::uintptr_t alignment_trait = 2;
  auto* made = new Allocator;
  for (int i = 0; i < count; ++i) {
    // {int key, pointer-sized value}
    if ((traits[2 * i] & 0xFFFF'FFFFU) == alignment_trait)
      made->alignment = std::max<std::size_t>(traits[2 * i + 1], made->alignment);
  }
  return reinterpret_cast<std::uintptr_t>(made);
}

SORREL_ENTRY_POINT void omp_destroy_allocator(std::uintptr_t allocator) {
  constexpr std::uintptr_t predefined_max = 8;
  if (allocator > predefined_max) delete reinterpret_cast<Allocator*>(allocator);
}

SORREL_ENTRY_POINT void omp_set_default_allocator(std::uintptr_t allocator) {
  default_allocator = allocator;
}

SORREL_ENTRY_POINT std::uintptr_t omp_get_default_allocator() {
  return default_allocator;
}

SORREL_ENTRY_POINT void* omp_alloc(std::size_t bytes, std::uintptr_t allocator) {
  return allocate(1, bytes, allocator);
}

SORREL_ENTRY_POINT void* omp_aligned_alloc(std::size_t alignment,
                                           std::size_t bytes,
                                           std::uintptr_t allocator) {
  return allocate(alignment, bytes, allocator);
}

SORREL_ENTRY_POINT void* omp_calloc(std::size_t count,
                                    std::size_t bytes,
                                    std::uintptr_t allocator) {
  return allocate_zeroed(1, count, bytes, allocator);
}

SORREL_ENTRY_POINT void* omp_aligned_calloc(std::size_t alignment,
                                            std::size_t count,
                                            std::size_t bytes,
                                            std::uintptr_t allocator) {
  return allocate_zeroed(alignment, count, bytes, allocator);
}

SORREL_ENTRY_POINT void* omp_realloc(void* memory,
                                     std::size_t bytes,
                                     std::uintptr_t allocator,
                                     std::uintptr_t) {
  if (memory == nullptr) return allocate(1, bytes, allocator);
  if (bytes == 0) {
    std::free(memory);
    return nullptr;
  }
  return std::realloc(memory, bytes);
}

SORREL_ENTRY_POINT void omp_free(void* memory, std::uintptr_t) {
  std::free(memory);
}

SORREL_ENTRY_POINT void* GOMP_alloc(std::size_t alignment,
                                    std::size_t bytes,
                                    std::uintptr_t allocator) {
  return allocate(alignment, bytes, allocator);
}

SORREL_ENTRY_POINT void GOMP_free(void* memory, std::uintptr_t) {
  std::free(memory);
}
