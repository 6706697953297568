// GOMP_*: parallel regions, barriers, single, critical, atomic, cancellation, teams, the error
// directive. Called by code that GCC generates; no logic.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/cache_line.hpp"
#include "omp/entry/entry_point.hpp"
#include "omp/icv/environment.hpp"
#include "omp/region/cancellation.hpp"
#include "omp/region/lock.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/region.hpp"
#include "omp/region/teams.hpp"
#include "omp/region/told_lock.hpp"
#include "omp/sched/schedule.hpp"
#include "omp/tasking/reduction.hpp"
#include "omp/tasking/tasking.hpp"
#include "omp/worksharing/loop.hpp"
#include "os/loaded_libraries.hpp"

namespace {

using namespace sorrel::omp;

alignas(sorrel::cache_line_bytes) Lock atomic_lock;

/// message: null for none; bytes: -1 for a C string.
void print_error_directive(const char* message, std::size_t bytes) {
  if (message == nullptr) {
    std::fputs("sorrel: error directive reached\n", stderr);
    return;
  }
  if (bytes == ~std::size_t{0}) bytes = std::strlen(message);
  std::fprintf(stderr, "sorrel: error directive reached: %.*s\n", static_cast<int>(bytes), message);
}

void run_region(const Fork& fork, unsigned asked) {
  TeamThread& thread = this_thread();
  (void)begin_region(thread, fork, resolve_team_size(thread, asked));
  fork.body(fork.data);
  end_region(this_thread());
}

/// Constant for the whole process.
bool can_cancel() {
  return environment().can_cancel;
}

/// As GCC's library does: the environment is read, and errors in it are reported, before main(). If
/// that library would be opened later, or is LLVM's, this is done at the first use: the program may
/// set variables before.
[[gnu::constructor]] void read_environment_early() {
  if (sorrel::os::is_needed("libgomp.so.1")) (void)environment();
}

}  // namespace

SORREL_ENTRY_POINT void GOMP_parallel(void (*body)(void*),
                                      void* data,
                                      unsigned threads,
                                      unsigned flags) {
  push_bind(flags);
  run_region({.body = body, .data = data}, threads);
}

SORREL_ENTRY_POINT void GOMP_parallel_start(void (*body)(void*), void* data, unsigned threads) {
  TeamThread& thread = this_thread();
  (void)begin_region(thread, {.body = body, .data = data}, resolve_team_size(thread, threads));
}

SORREL_ENTRY_POINT void GOMP_parallel_end() {
  end_region(this_thread());
}

SORREL_ENTRY_POINT unsigned GOMP_parallel_reductions(void (*body)(void*),
                                                     void* data,
                                                     unsigned threads,
                                                     unsigned flags) {
  push_bind(flags);
  TeamThread& thread = this_thread();
  const std::uint32_t size = resolve_team_size(thread, threads);
  auto* arrays = *static_cast<std::uintptr_t**>(data);
  register_reductions(arrays, nullptr, size);
  TaskGroup group;
  group.reductions = arrays;
  group.is_of_construct = true;
  // The standard promises `size` copies: with fewer threads some remain unchanged.
  (void)begin_region(thread, {.body = body, .data = data, .region_taskgroup = &group}, size);
  body(data);
  end_region(this_thread());
  return size;
}

SORREL_ENTRY_POINT void GOMP_barrier() {
  (void)wait_at_barrier(this_thread());
}

SORREL_ENTRY_POINT bool GOMP_barrier_cancel() {
  return wait_at_barrier(this_thread(), true);
}

SORREL_ENTRY_POINT bool GOMP_single_start() {
  TeamThread& thread = this_thread();
  Team& team = *thread.team;
  const bool is_own = team.size == 1 || team.inner.claim(thread.single_count++);
  if (has_tool()) [[unlikely]] {
    // Code compiled by GCC does not report the end of the block: it counts as empty.
    const auto kind = is_own ? ompt::Work::single_executor : ompt::Work::single_other;
    tell_work(thread, kind, ompt::Endpoint::begin, 1);
    tell_work(thread, kind, ompt::Endpoint::end, 1);
  }
  return is_own;
}

SORREL_ENTRY_POINT void* GOMP_single_copy_start() {
  if (GOMP_single_start()) return nullptr;
  (void)wait_at_barrier(this_thread());
  return this_thread().team->copyprivate;
}

SORREL_ENTRY_POINT void GOMP_single_copy_end(void* data) {
  TeamThread& thread = this_thread();
  if (thread.team->size == 1) return;
  thread.team->copyprivate = data;
  (void)wait_at_barrier(thread);
}

// The compiler gives each name a zeroed pointer, which holds the lock.
SORREL_ENTRY_POINT void GOMP_critical_name_start(void** name) {
  take_told(*reinterpret_cast<Lock*>(name), ompt::Mutex::critical);
}

SORREL_ENTRY_POINT void GOMP_critical_name_end(void** name) {
  give_told(*reinterpret_cast<Lock*>(name), ompt::Mutex::critical);
}

SORREL_ENTRY_POINT void GOMP_critical_start() {
  GOMP_critical_name_start(this_thread().group->critical_name);
}

SORREL_ENTRY_POINT void GOMP_critical_end() {
  GOMP_critical_name_end(this_thread().group->critical_name);
}

SORREL_ENTRY_POINT void GOMP_atomic_start() {
  take_told(atomic_lock, ompt::Mutex::atomic);
}

SORREL_ENTRY_POINT void GOMP_atomic_end() {
  give_told(atomic_lock, ompt::Mutex::atomic);
}

SORREL_ENTRY_POINT void GOMP_warning(const char* message, size_t bytes) {
  print_error_directive(message, bytes);
}

SORREL_ENTRY_POINT void GOMP_error(const char* message, size_t bytes) {
  print_error_directive(message, bytes);
  std::exit(EXIT_FAILURE);
}

SORREL_ENTRY_POINT bool GOMP_cancellation_point(int what) {
  return can_cancel() && meets_cancellation(this_thread(), static_cast<std::uint32_t>(what));
}

SORREL_ENTRY_POINT bool GOMP_cancel(int what, bool does) {
  if (!can_cancel()) return false;
  if (!does) return GOMP_cancellation_point(what);
  cancel(this_thread(), static_cast<std::uint32_t>(what));
  return true;
}

SORREL_ENTRY_POINT void GOMP_teams_reg(
    void (*body)(void*), void* data, unsigned count, unsigned limit, unsigned) {
  run_teams(this_thread(), body, data, {.count = count, .thread_limit = limit});
}

// For the MPI library, loop/job_threads.hpp.
SORREL_ENTRY_POINT bool sorrel_omp_run_on_main_thread_1() {
  return run_on_main_thread();
}
