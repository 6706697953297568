// __kmpc_*: parallel regions, leagues, barriers, single, master, critical, reductions,
// cancellation. Called by code that clang, flang and Intel's compilers generate; no logic except
// the calls of outlined regions.
#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "omp/icv/environment.hpp"
#include "omp/kmpc/interface.hpp"
#include "omp/region/cancellation.hpp"
#include "omp/region/program_call.hpp"
#include "omp/region/region.hpp"
#include "omp/region/target.hpp"
#include "omp/region/teams.hpp"
#include "omp/region/told_lock.hpp"
#include "omp/sched/schedule.hpp"
#include "omp/tasking/tasking.hpp"

extern "C" int omp_pause_resource_all(int kind);

namespace {

using namespace sorrel::omp;
using namespace sorrel::omp::kmpc;

/// The most captured variables of a region.
constexpr std::size_t argument_count_max = 256;

/// A region's code and its arguments, in an array whose length is one of those below.
struct Call {
  Microtask code;
  std::size_t count;
  void* const* arguments;
};

template <std::size_t... Index>
void call_with(const Call& call,
               const TeamThread* thread,
               std::int32_t* global,
               std::int32_t* number,
               std::index_sequence<Index...>) {
  using Code = void (*)(std::int32_t*, std::int32_t*, decltype((void)Index, (void*)nullptr)...);
  const TaskCall task_call(*thread);
  reinterpret_cast<Code>(call.code)(global, number, call.arguments[Index]...);
}

/// A callee that takes fewer arguments does not notice further ones: the caller removes them.
constexpr std::size_t rounded_count(std::size_t count) {
  std::size_t rounded = 4;
  while (rounded < count)
    rounded *= 2;
  return rounded;
}

void call_outlined(const Call& call, TeamThread& thread) {
  std::int32_t global = global_number(thread);
  auto number = static_cast<std::int32_t>(thread.number);
  switch (call.count) {
    case 4:
      return call_with(call, &thread, &global, &number, std::make_index_sequence<4>());
    case 8:
      return call_with(call, &thread, &global, &number, std::make_index_sequence<8>());
    case 16:
      return call_with(call, &thread, &global, &number, std::make_index_sequence<16>());
    case 32:
      return call_with(call, &thread, &global, &number, std::make_index_sequence<32>());
    case 64:
      return call_with(call, &thread, &global, &number, std::make_index_sequence<64>());
    case 128:
      return call_with(call, &thread, &global, &number, std::make_index_sequence<128>());
    default:
      return call_with(call, &thread, &global, &number,
                       std::make_index_sequence<argument_count_max>());
  }
}

void run_call(void* data) {
  TeamThread& thread = this_thread();
  call_outlined(*static_cast<const Call*>(data), thread);
  leave_open_loop(thread);
}

class Arguments {
 public:
  Arguments(std::size_t count, va_list list) : count_(rounded_count(count)) {
    if (count > argument_count_max) {
      std::fprintf(
          stderr,
          "sorrel: OpenMP: a region has %zu captured variables, at most %zu can be passed\n", count,
          argument_count_max);
      std::exit(EXIT_FAILURE);
    }
    for (std::size_t i = 0; i < count_; ++i)
      words_[i] = i < count ? va_arg(list, void*) : nullptr;
  }

  [[nodiscard]] Call call(Microtask code) const { return {code, count_, words_.data()}; }

 private:
  std::size_t count_;
  std::array<void*, argument_count_max> words_;
};

/// For num_threads with the modifier strict.
void check_strict(TeamThread& thread, std::uint32_t asked, std::uint32_t size) {
  const auto severity = static_cast<ompt::Severity>(std::exchange(thread.pushed_severity, 0));
  const char* const message = std::exchange(thread.pushed_message, nullptr);
  if (size == asked) return;
  std::fprintf(stderr, "sorrel: num_threads(strict: %u): %u available here%s%s\n", asked, size,
               message == nullptr ? "" : ": ", message == nullptr ? "" : message);
  if (severity == ompt::Severity::fatal) std::exit(EXIT_FAILURE);
}

void run_region(Call& call) {
  TeamThread& thread = this_thread();
  const std::uint32_t asked = std::exchange(thread.pushed_threads, 0);
  const std::uint32_t size = resolve_team_size(thread, asked);
  if (thread.pushed_severity != 0) [[unlikely]]
    check_strict(thread, asked, size);
  Fork fork{.body = run_call, .data = &call, .thread_count = asked};
  ThreadList list;
  if (thread.pushed_list != nullptr) [[unlikely]] {
    list = {.counts = std::exchange(thread.pushed_list, nullptr), .at = 1};
    fork.thread_list = &list;
  }
  (void)begin_region(thread, fork, size);
  run_call(&call);
  end_region(this_thread());
}

bool can_cancel() {
  return environment().can_cancel;
}

/// The numbers of __kmpc_cancel(), as those of a team.
std::uint32_t cancelled_kind(std::int32_t kind) {
  switch (kind) {
    case 1:
      return cancelled_parallel;
    case 2:
      return cancelled_loop;
    case 3:
      return cancelled_sections;
    default:
      return cancelled_taskgroup;
  }
}

std::uint32_t not_negative(std::int32_t number) {
  return static_cast<std::uint32_t>(std::max(number, 0));
}

void push_strict(TeamThread& thread,
                 std::uint32_t count,
                 std::int32_t severity,
                 const char* message) {
  thread.pushed_threads = count;
  thread.pushed_severity = severity;
  thread.pushed_message = message;
}

void push_list(TeamThread& thread, std::span<const std::int32_t> counts) {
  auto list = std::make_shared<std::vector<std::uint32_t>>();
  for (const std::int32_t count : counts)
    list->push_back(static_cast<std::uint32_t>(std::max(count, 1)));
  thread.pushed_threads = list->empty() ? 0 : list->front();
  thread.pushed_list = list->size() > 1 ? std::move(list) : nullptr;
}

/// Every thread combines its own values, one at a time. The result tells the thread so.
std::int32_t begin_turn(CriticalName* name) {
  if (this_thread().team->size > 1) lock_of(name).take();
  if (has_tool()) [[unlikely]]
    tell_reduction(this_thread(), ompt::Endpoint::begin);
  return 1;
}

void end_turn(CriticalName* name) {
  if (has_tool()) [[unlikely]]
    tell_reduction(this_thread(), ompt::Endpoint::end);
  if (this_thread().team->size > 1) lock_of(name).give();
}

/// A barrier inside another construct, or after it.
void wait_for_construct(TeamThread& thread, ompt::Sync kind) {
  if (has_tool()) [[unlikely]]
    thread.tool_sync = kind;
  (void)wait_at_barrier(thread);
}

std::int32_t begin_masked(bool is_own) {
  if (is_own && has_tool()) [[unlikely]]
    tell_masked(this_thread(), ompt::Endpoint::begin);
  return is_own ? 1 : 0;
}

void end_masked() {
  if (has_tool()) [[unlikely]]
    tell_masked(this_thread(), ompt::Endpoint::end);
}

void tell_block(ompt::Work kind, ompt::Endpoint end) {
  if (has_tool()) [[unlikely]]
    tell_work(this_thread(), kind, end, 1);
}

void begin_serialized(TeamThread& thread) {
  thread.pushed_threads = 0;
  thread.pushed_severity = 0;
  thread.pushed_list = nullptr;
  (void)begin_region(thread, {.thread_count = 1}, 1);
}

void end_serialized(TeamThread& thread) {
  leave_open_loop(thread);
  end_region(thread);
}

}  // namespace

namespace sorrel::omp::kmpc {

std::int32_t global_number(TeamThread& thread) {
  static std::atomic<std::int32_t> last{0};
  if (thread.global_number == 0)
    thread.global_number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return thread.global_number - 1;
}

}  // namespace sorrel::omp::kmpc

SORREL_KMPC void __kmpc_begin(Ident*, std::int32_t) {}

SORREL_KMPC void __kmpc_end(Ident*) {}

SORREL_KMPC std::int32_t __kmpc_global_thread_num(Ident*) {
  return global_number(this_thread());
}

SORREL_KMPC std::int32_t __kmpc_global_num_threads(Ident*) {
  return static_cast<std::int32_t>(this_thread().team->size);
}

SORREL_KMPC std::int32_t __kmpc_bound_thread_num(Ident*) {
  return static_cast<std::int32_t>(this_thread().number);
}

SORREL_KMPC std::int32_t __kmpc_bound_num_threads(Ident*) {
  return static_cast<std::int32_t>(this_thread().team->size);
}

SORREL_KMPC std::int32_t __kmpc_ok_to_fork(Ident*) {
  return 1;
}

SORREL_KMPC std::int32_t __kmpc_in_parallel(Ident*) {
  return this_thread().team->active_level > 0 ? 1 : 0;
}

SORREL_KMPC std::uint16_t __kmpc_parallel_level(Ident*, std::int32_t) {
  return static_cast<std::uint16_t>(this_thread().team->level);
}

SORREL_KMPC void __kmpc_push_num_threads(Ident*, std::int32_t, std::int32_t count) {
  this_thread().pushed_threads = not_negative(count);
}

SORREL_KMPC void __kmpc_push_num_threads_strict(
    Ident*, std::int32_t, std::int32_t count, std::int32_t severity, const char* message) {
  push_strict(this_thread(), not_negative(count), severity, message);
}

// The first number of the list is that of the region, the others are those of regions inside it.
SORREL_KMPC void __kmpc_push_num_threads_list(Ident*,
                                              std::int32_t,
                                              std::uint32_t length,
                                              const std::int32_t* counts) {
  push_list(this_thread(), std::span(counts, length));
}

SORREL_KMPC void __kmpc_push_num_threads_list_strict(Ident*,
                                                     std::int32_t,
                                                     std::uint32_t length,
                                                     const std::int32_t* counts,
                                                     std::int32_t severity,
                                                     const char* message) {
  TeamThread& thread = this_thread();
  push_list(thread, std::span(counts, length));
  push_strict(thread, thread.pushed_threads, severity, message);
}

SORREL_KMPC void __kmpc_pop_num_threads(Ident*, std::int32_t) {}

SORREL_KMPC void __kmpc_push_proc_bind(Ident*, std::int32_t, std::int32_t bind) {
  this_thread().pushed_bind = not_negative(bind);
}

SORREL_KMPC void __kmpc_push_num_teams(Ident*,
                                       std::int32_t,
                                       std::int32_t count,
                                       std::int32_t thread_limit) {
  TeamThread& thread = this_thread();
  thread.pushed_teams = not_negative(count);
  thread.pushed_thread_limit = not_negative(thread_limit);
}

SORREL_KMPC void __kmpc_push_num_teams_51(
    Ident*, std::int32_t, std::int32_t least, std::int32_t most, std::int32_t thread_limit) {
  TeamThread& thread = this_thread();
  thread.pushed_teams = not_negative(most > 0 ? most : least);
  thread.pushed_thread_limit = not_negative(thread_limit);
}

SORREL_KMPC void __kmpc_set_thread_limit(Ident*, std::int32_t, std::int32_t limit) {
  if (limit > 0) this_thread().icv.thread_limit = static_cast<std::uint32_t>(limit);
}

SORREL_KMPC void __kmpc_fork_call(Ident*, std::int32_t count, Microtask code, ...) {
  const ProgramCall program_call;
  va_list list;
  va_start(list, code);
  const Arguments arguments(static_cast<std::size_t>(count), list);
  va_end(list);
  Call call = arguments.call(code);
  run_region(call);
}

SORREL_KMPC void __kmpc_serialized_parallel(Ident*, std::int32_t) {
  const ProgramCall call;
  begin_serialized(this_thread());
  if (has_tool()) [[unlikely]]
    tell_called_by_program(this_thread(), __builtin_dwarf_cfa());
}

SORREL_KMPC void __kmpc_end_serialized_parallel(Ident*, std::int32_t) {
  const ProgramCall call;
  end_serialized(this_thread());
}

SORREL_KMPC void __kmpc_fork_call_if(
    Ident*, std::int32_t count, Microtask code, std::int32_t condition, void* argument) {
  const ProgramCall program_call;
  void* words[4] = {count > 0 ? argument : nullptr};
  Call call{code, 4, words};
  if (condition != 0) return run_region(call);
  begin_serialized(this_thread());
  run_call(&call);
  end_serialized(this_thread());
}

SORREL_KMPC void __kmpc_fork_teams(Ident*, std::int32_t count, Microtask code, ...) {
  const ProgramCall program_call;
  va_list list;
  va_start(list, code);
  const Arguments arguments(static_cast<std::size_t>(count), list);
  va_end(list);
  Call call = arguments.call(code);
  TeamThread& thread = this_thread();
  std::uint32_t teams = std::exchange(thread.pushed_teams, 0);
  if (teams == 0) teams = std::max(team_count_setting(), 1U);
  run_teams(thread, run_call, &call,
            {.count = teams, .thread_limit = std::exchange(thread.pushed_thread_limit, 0)});
}

SORREL_KMPC void __kmpc_flush(Ident*) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const ProgramCall call;
  if (has_tool()) [[unlikely]]
    tell_flush(this_thread());
}

SORREL_KMPC void __kmpc_barrier(Ident* place, std::int32_t) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  constexpr std::int32_t is_implicit = 0x40;
  if (has_tool() && place != nullptr && (place->flags & is_implicit) != 0) [[unlikely]]
    thread.tool_sync = ompt::Sync::barrier_implicit_workshare;
  leave_open_loop(thread);
  (void)wait_at_barrier(thread);
}

SORREL_KMPC std::int32_t __kmpc_cancel_barrier(Ident*, std::int32_t) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  leave_open_loop(thread);
  return wait_at_barrier(thread, can_cancel()) ? 1 : 0;
}

// The master continues at once when all threads have come, the others wait for it.
SORREL_KMPC std::int32_t __kmpc_barrier_master(Ident*, std::int32_t) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  leave_open_loop(thread);
  (void)wait_at_barrier(thread);
  if (this_thread().number == 0) return 1;
  (void)wait_at_barrier(this_thread());
  return 0;
}

SORREL_KMPC void __kmpc_end_barrier_master(Ident*, std::int32_t) {
  const ProgramCall call;
  (void)wait_at_barrier(this_thread());
}

SORREL_KMPC std::int32_t __kmpc_barrier_master_nowait(Ident*, std::int32_t) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  leave_open_loop(thread);
  (void)wait_at_barrier(thread);
  return this_thread().number == 0 ? 1 : 0;
}

SORREL_KMPC std::int32_t __kmpc_master(Ident*, std::int32_t) {
  const ProgramCall call;
  return begin_masked(this_thread().number == 0);
}

SORREL_KMPC void __kmpc_end_master(Ident*, std::int32_t) {
  const ProgramCall call;
  end_masked();
}

SORREL_KMPC std::int32_t __kmpc_masked(Ident*, std::int32_t, std::int32_t number) {
  const ProgramCall call;
  return begin_masked(static_cast<std::int32_t>(this_thread().number) == number);
}

SORREL_KMPC void __kmpc_end_masked(Ident*, std::int32_t) {
  const ProgramCall call;
  end_masked();
}

SORREL_KMPC std::int32_t __kmpc_single(Ident*, std::int32_t) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  Team& team = *thread.team;
  const bool is_own = team.size == 1 || team.inner.claim(thread.single_count++);
  if (has_tool()) [[unlikely]]
    tell_single_begin(thread, is_own);
  return is_own ? 1 : 0;
}

SORREL_KMPC void __kmpc_end_single(Ident*, std::int32_t) {
  const ProgramCall call;
  if (has_tool()) [[unlikely]]
    tell_single_end(this_thread());
}

SORREL_KMPC void __kmpc_scope(Ident*, std::int32_t, void*) {
  const ProgramCall call;
  tell_block(ompt::Work::scope, ompt::Endpoint::begin);
}

SORREL_KMPC void __kmpc_end_scope(Ident*, std::int32_t, void*) {
  const ProgramCall call;
  tell_block(ompt::Work::scope, ompt::Endpoint::end);
}

SORREL_KMPC void __kmpc_copyprivate(Ident*,
                                    std::int32_t,
                                    std::size_t,
                                    void* data,
                                    void (*copy)(void*, void*),
                                    std::int32_t is_source) {
  const ProgramCall call;
  if (is_source != 0) this_thread().team->copyprivate = data;
  wait_for_construct(this_thread(), ompt::Sync::barrier_implementation);
  if (is_source == 0) copy(data, this_thread().team->copyprivate);
  wait_for_construct(this_thread(), ompt::Sync::barrier_implementation);
}

SORREL_KMPC void* __kmpc_copyprivate_light(Ident*, std::int32_t, void* data) {
  const ProgramCall call;
  if (data != nullptr) this_thread().team->copyprivate = data;
  wait_for_construct(this_thread(), ompt::Sync::barrier_implementation);
  return this_thread().team->copyprivate;
}

SORREL_KMPC void __kmpc_critical(Ident*, std::int32_t, CriticalName* name) {
  const ProgramCall call;
  take_told(lock_of(name), ompt::Mutex::critical);
}

SORREL_KMPC void __kmpc_critical_with_hint(Ident*,
                                           std::int32_t,
                                           CriticalName* name,
                                           std::uint32_t) {
  const ProgramCall call;
  take_told(lock_of(name), ompt::Mutex::critical);
}

SORREL_KMPC void __kmpc_end_critical(Ident*, std::int32_t, CriticalName* name) {
  const ProgramCall call;
  give_told(lock_of(name), ompt::Mutex::critical);
}

SORREL_KMPC std::int32_t __kmpc_reduce_nowait(Ident*,
                                              std::int32_t,
                                              std::int32_t,
                                              std::size_t,
                                              void*,
                                              void (*)(void*, void*),
                                              CriticalName* name) {
  const ProgramCall call;
  return begin_turn(name);
}

SORREL_KMPC void __kmpc_end_reduce_nowait(Ident*, std::int32_t, CriticalName* name) {
  const ProgramCall call;
  end_turn(name);
}

SORREL_KMPC std::int32_t __kmpc_reduce(Ident*,
                                       std::int32_t,
                                       std::int32_t,
                                       std::size_t,
                                       void*,
                                       void (*)(void*, void*),
                                       CriticalName* name) {
  const ProgramCall call;
  return begin_turn(name);
}

SORREL_KMPC void __kmpc_end_reduce(Ident*, std::int32_t, CriticalName* name) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  end_turn(name);
  leave_open_loop(thread);
  wait_for_construct(thread, ompt::Sync::barrier_implementation);
}

SORREL_KMPC std::int32_t __kmpc_cancellationpoint(Ident*, std::int32_t, std::int32_t kind) {
  const ProgramCall call;
  return can_cancel() && meets_cancellation(this_thread(), cancelled_kind(kind)) ? 1 : 0;
}

SORREL_KMPC std::int32_t __kmpc_cancel(Ident*, std::int32_t, std::int32_t kind) {
  const ProgramCall call;
  if (!can_cancel()) return 0;
  cancel(this_thread(), cancelled_kind(kind));
  return 1;
}

SORREL_KMPC int __kmpc_pause_resource(int kind) {
  return omp_pause_resource_all(kind) == 0 ? 0 : 1;
}

SORREL_KMPC std::int32_t __kmpc_get_target_offload() {
  constexpr std::int32_t is_disabled = 0;
  return is_disabled;
}

SORREL_KMPC void __kmpc_error(Ident* place, int severity, const char* message) {
  constexpr int fatal = 2;
  const ProgramCall call;
  std::fprintf(stderr, "sorrel: error directive reached: %s%s%s\n",
               message == nullptr ? "" : message,
               place == nullptr || place->source == nullptr ? "" : " ",
               place == nullptr || place->source == nullptr ? "" : place->source);
  if (has_tool()) [[unlikely]]
    tell_error(this_thread(), severity == fatal ? ompt::Severity::fatal : ompt::Severity::warning,
               message == nullptr ? "" : message, message == nullptr ? 0 : std::strlen(message));
  if (severity == fatal) std::exit(EXIT_FAILURE);
}
