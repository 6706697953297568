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
#include "omp/region/program_call.hpp"
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

void tell_error_directive(ompt::Severity severity, const char* message, std::size_t bytes) {
  if (!has_tool()) [[likely]]
    return;
  if (message == nullptr) message = "";
  if (bytes == ~std::size_t{0}) bytes = std::strlen(message);
  tell_error(this_thread(), severity, message, bytes);
}

void run_region(const Fork& fork) {
  TeamThread& thread = this_thread();
  (void)begin_region(thread, fork, resolve_team_size(thread, fork.thread_count));
  call_task(thread, fork.body, fork.data);
  end_region(this_thread());
}

/// The kinds of GOMP_barrier_ext().
void tell_barrier_kind(int kind) {
  constexpr int implicit_in_parallel = 0;
  constexpr int implicit_in_workshare = 1;
  if (!has_tool()) [[likely]]
    return;
  TeamThread& thread = this_thread();
  if (kind == implicit_in_parallel) thread.tool_sync = ompt::Sync::barrier_implementation;
  if (kind == implicit_in_workshare) thread.tool_sync = ompt::Sync::barrier_implicit_workshare;
}

bool claim_single(TeamThread& thread) {
  Team& team = *thread.team;
  return team.size == 1 || team.inner.claim(thread.single_count++);
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
  const ProgramCall call;
  push_bind(flags);
  run_region({.body = body, .data = data, .thread_count = threads});
}

SORREL_ENTRY_POINT void GOMP_parallel_start(void (*body)(void*), void* data, unsigned threads) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  (void)begin_region(thread, {.body = body, .data = data, .thread_count = threads},
                     resolve_team_size(thread, threads));
}

SORREL_ENTRY_POINT void GOMP_parallel_end() {
  const ProgramCall call;
  end_region(this_thread());
}

SORREL_ENTRY_POINT unsigned GOMP_parallel_reductions(void (*body)(void*),
                                                     void* data,
                                                     unsigned threads,
                                                     unsigned flags) {
  const ProgramCall call;
  push_bind(flags);
  TeamThread& thread = this_thread();
  const std::uint32_t size = resolve_team_size(thread, threads);
  auto* arrays = *static_cast<std::uintptr_t**>(data);
  register_reductions(arrays, nullptr, size);
  TaskGroup group;
  group.reductions = arrays;
  group.is_of_construct = true;
  // The standard promises `size` copies: with fewer threads some remain unchanged.
  (void)begin_region(
      thread, {.body = body, .data = data, .thread_count = threads, .region_taskgroup = &group},
      size);
  call_task(thread, body, data);
  end_region(this_thread());
  return size;
}

SORREL_ENTRY_POINT void GOMP_barrier() {
  const ProgramCall call;
  (void)wait_at_barrier(this_thread());
}

SORREL_ENTRY_POINT bool GOMP_barrier_cancel() {
  const ProgramCall call;
  return wait_at_barrier(this_thread(), true);
}

// GCC 17 passes what the barrier belongs to.
SORREL_ENTRY_POINT void GOMP_barrier_ext(int kind) {
  const ProgramCall call;
  tell_barrier_kind(kind);
  (void)wait_at_barrier(this_thread());
}

SORREL_ENTRY_POINT bool GOMP_barrier_cancel_ext(int kind) {
  const ProgramCall call;
  tell_barrier_kind(kind);
  return wait_at_barrier(this_thread(), true);
}

SORREL_ENTRY_POINT bool GOMP_single_start() {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  const bool is_own = claim_single(thread);
  if (has_tool()) [[unlikely]] {
    // Such code does not report the end of the block: it counts as empty.
    const auto kind = is_own ? ompt::Work::single_executor : ompt::Work::single_other;
    tell_work(thread, kind, ompt::Endpoint::begin, 1);
    tell_work(thread, kind, ompt::Endpoint::end, 1);
  }
  return is_own;
}

// With -fopenmp-ompt, GOMP_single_end() follows the block.
SORREL_ENTRY_POINT bool GOMP_single_start_with_end() {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  const bool is_own = claim_single(thread);
  if (has_tool()) [[unlikely]]
    tell_single_begin(thread, is_own);
  return is_own;
}

SORREL_ENTRY_POINT void GOMP_single_end() {
  if (!has_tool()) [[likely]]
    return;
  const ProgramCall call;
  tell_single_end(this_thread());
}

SORREL_ENTRY_POINT void* GOMP_single_copy_start() {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  const bool is_own = claim_single(thread);
  if (has_tool()) [[unlikely]] {
    tell_single_begin(thread, is_own);
    thread.tool_sync = ompt::Sync::barrier_implementation;
  }
  if (is_own) return nullptr;
  (void)wait_at_barrier(thread);
  return this_thread().team->copyprivate;
}

SORREL_ENTRY_POINT void GOMP_single_copy_end(void* data) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  if (has_tool()) [[unlikely]] {
    tell_single_end(thread);
    thread.tool_sync = ompt::Sync::barrier_implementation;
  }
  if (thread.team->size == 1) return;
  thread.team->copyprivate = data;
  (void)wait_at_barrier(thread);
}

// The masked construct of GCC 17: whether the thread has the number of its filter clause.
SORREL_ENTRY_POINT bool GOMP_has_masked_thread_num(int number) {
  return static_cast<int>(this_thread().number) == number;
}

SORREL_ENTRY_POINT bool GOMP_has_masked_thread_num_with_end(int number) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  const bool is_own = static_cast<int>(thread.number) == number;
  if (is_own && has_tool()) [[unlikely]]
    tell_masked(thread, ompt::Endpoint::begin);
  return is_own;
}

SORREL_ENTRY_POINT void GOMP_masked_end() {
  if (!has_tool()) [[likely]]
    return;
  const ProgramCall call;
  tell_masked(this_thread(), ompt::Endpoint::end);
}

// The compiler gives each name a zeroed pointer, which holds the lock.
SORREL_ENTRY_POINT void GOMP_critical_name_start(void** name) {
  const ProgramCall call;
  take_told(*reinterpret_cast<Lock*>(name), ompt::Mutex::critical);
}

SORREL_ENTRY_POINT void GOMP_critical_name_end(void** name) {
  const ProgramCall call;
  give_told(*reinterpret_cast<Lock*>(name), ompt::Mutex::critical);
}

SORREL_ENTRY_POINT void GOMP_critical_start() {
  const ProgramCall call;
  take_told(*reinterpret_cast<Lock*>(this_thread().group->critical_name), ompt::Mutex::critical);
}

SORREL_ENTRY_POINT void GOMP_critical_end() {
  const ProgramCall call;
  give_told(*reinterpret_cast<Lock*>(this_thread().group->critical_name), ompt::Mutex::critical);
}

SORREL_ENTRY_POINT void GOMP_atomic_start() {
  const ProgramCall call;
  take_told(atomic_lock, ompt::Mutex::atomic);
}

SORREL_ENTRY_POINT void GOMP_atomic_end() {
  const ProgramCall call;
  give_told(atomic_lock, ompt::Mutex::atomic);
}

// GCC 17: in their place around reductions of several variables.
SORREL_ENTRY_POINT void GOMP_reduction_start() {
  const ProgramCall call;
  atomic_lock.take();
  if (has_tool()) [[unlikely]]
    tell_reduction(this_thread(), ompt::Endpoint::begin);
}

SORREL_ENTRY_POINT void GOMP_reduction_end() {
  const ProgramCall call;
  if (has_tool()) [[unlikely]]
    tell_reduction(this_thread(), ompt::Endpoint::end);
  atomic_lock.give();
}

SORREL_ENTRY_POINT void GOMP_warning(const char* message, size_t bytes) {
  const ProgramCall call;
  print_error_directive(message, bytes);
  tell_error_directive(ompt::Severity::warning, message, bytes);
}

SORREL_ENTRY_POINT void GOMP_error(const char* message, size_t bytes) {
  const ProgramCall call;
  print_error_directive(message, bytes);
  tell_error_directive(ompt::Severity::fatal, message, bytes);
  std::exit(EXIT_FAILURE);
}

SORREL_ENTRY_POINT bool GOMP_cancellation_point(int what) {
  const ProgramCall call;
  return can_cancel() && meets_cancellation(this_thread(), static_cast<std::uint32_t>(what));
}

SORREL_ENTRY_POINT bool GOMP_cancel(int what, bool does) {
  if (!can_cancel()) return false;
  const ProgramCall call;
  if (!does) return meets_cancellation(this_thread(), static_cast<std::uint32_t>(what));
  cancel(this_thread(), static_cast<std::uint32_t>(what));
  return true;
}

SORREL_ENTRY_POINT void GOMP_teams_reg(
    void (*body)(void*), void* data, unsigned count, unsigned limit, unsigned) {
  const ProgramCall call;
  run_teams(this_thread(), body, data, {.count = count, .thread_limit = limit});
}

// For the MPI library, loop/job_threads.hpp.
SORREL_ENTRY_POINT bool sorrel_omp_run_on_main_thread_1() {
  return run_on_main_thread();
}
