// GOMP_*: loops, sections and ordered, for long and for unsigned long long. Macros define one
// function for each schedule; no logic.
#include "omp/entry/entry_point.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/program_call.hpp"
#include "omp/region/region.hpp"
#include "omp/tasking/member_state.hpp"
#include "omp/tasking/reduction.hpp"
#include "omp/tasking/tasking.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/worksharing/loop.hpp"

namespace {

using namespace sorrel::omp;
using Ull = unsigned long long;

constexpr bool ordered = true;
constexpr bool unordered = false;
/// Schedules; `run`: that of run-sched-var.
enum class Kind : std::uint8_t {
  fixed,
  dynamic,
  dynamic_in_any_order,
  guided,
  run,
  run_in_any_order
};

struct Range {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t step;
  std::uint64_t trip_count;
};

Range range_of(long start, long end, long step) {
  return {static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end),
          static_cast<std::uint64_t>(step), trip_count(start, end, step)};
}

Range range_of(bool is_up, Ull start, Ull end, Ull step) {
  return {start, end, step, trip_count_unsigned(is_up, start, end, step)};
}

LoopShape shape_of(const Range& range, Kind kind, std::uint64_t chunk, bool is_ordered) {
  LoopShape shape{.start = range.start,
                  .end = range.end,
                  .step = range.step,
                  .trip_count = range.trip_count,
                  .chunk = chunk,
                  .schedule = Schedule::dynamic,
                  .is_ordered = is_ordered};
  if (kind == Kind::fixed) shape.schedule = Schedule::fixed;
  if (kind == Kind::guided) shape.schedule = Schedule::guided;
  shape.is_monotonic = kind != Kind::dynamic_in_any_order;
  if (kind == Kind::run || kind == Kind::run_in_any_order) {
    apply_run_schedule(this_thread(), shape);
    shape.is_monotonic = kind == Kind::run || this_thread().icv.is_monotonic;
  }
  return shape;
}

/// Its loop is taken in chunks with numbers.
void tell_batched_chunk(const TeamThread& thread, std::uint64_t number) {
  const LoopShape& loop = thread.share->loop;
  const std::uint64_t begin = number * loop.chunk;
  tell_chunk(thread, {begin, std::min(begin + loop.chunk, loop.trip_count)});
}

template <class Number>
bool next(Number* first, Number* end) {
  TeamThread& thread = this_thread();
  WorkShare& share = *thread.share;
  if (share.chunk_count != 0) {
    std::uint64_t number = 0;
    if (!thread.member_state->batch.take(number) && !next_batch(thread, share, number))
      return false;
    if (has_tool()) [[unlikely]]
      tell_batched_chunk(thread, number);
    const std::uint64_t begin = share.loop.start + number * share.stride;
    *first = static_cast<Number>(begin);
    *end = static_cast<Number>(number + 1 == share.chunk_count ? share.loop.end
                                                               : begin + share.stride);
    return true;
  }
  Chunk chunk;
  if (!next_chunk(thread, chunk)) return false;
  if (has_tool()) [[unlikely]]
    tell_chunk(thread, chunk);
  const Bounds bounds = bounds_of(thread.share->loop, chunk);
  *first = static_cast<Number>(bounds.first);
  *end = static_cast<Number>(bounds.end);
  return true;
}

template <class Number>
bool start(const LoopShape& shape, Number* first, Number* end) {
  begin_loop(this_thread(), shape);
  return next(first, end);
}

/// GOMP_loop_start and similar: the schedule is a number; reductions and memory are optional.
template <class Number>
bool start_with(
    LoopShape shape, long schedule, Number* first, Number* end, const LoopExtras& extras) {
  apply_schedule(this_thread(), schedule, shape);
  begin_loop(this_thread(), shape, extras);
  return first == nullptr || next(first, end);
}

void parallel_loop(void (*body)(void*), void* data, unsigned threads, const LoopShape& shape) {
  TeamThread& thread = this_thread();
  (void)begin_region(thread, {.body = body, .data = data, .thread_count = threads, .loop = &shape},
                     resolve_team_size(thread, threads));
}

/// To a tool, the kind of the construct that follows.
void tell_kind(ompt::Sync kind) {
  if (has_tool()) [[unlikely]]
    this_thread().tool_sync = kind;
}

void tell_kind(ompt::Work kind) {
  if (has_tool()) [[unlikely]]
    this_thread().tool_work = kind;
}

void tell_part(ompt::Work kind, std::uint64_t start, std::uint64_t iterations) {
  if (has_tool()) [[unlikely]]
    tell_dispatch(this_thread(), kind, {start, iterations});
}

void tell_block(ompt::Work kind, ompt::Endpoint end, std::uint64_t count) {
  if (has_tool()) [[unlikely]]
    tell_work(this_thread(), kind, end, count);
}

/// A number of the type _Complex int, which is passed as one word.
constexpr std::uint64_t complex_of(std::uint32_t real, std::uint32_t imaginary) {
  return real | std::uint64_t{imaginary} << 32;
}

LoopShape sections_shape(unsigned count) {
  tell_kind(ompt::Work::sections);
  return shape_of({1, count + 1UL, 1, count}, Kind::dynamic, 1, unordered);
}

unsigned next_section() {
  unsigned long first = 0;
  unsigned long end = 0;
  return next(&first, &end) ? static_cast<unsigned>(first) : 0;
}

std::uint32_t section_threads(const TeamThread& thread, unsigned threads, unsigned count) {
  const std::uint32_t size = resolve_team_size(thread, threads);
  return threads == 0 && thread.icv.is_dynamic ? std::min(size, std::max(count, 1U)) : size;
}

void parallel_sections(void (*body)(void*), void* data, unsigned threads, unsigned count) {
  TeamThread& thread = this_thread();
  const LoopShape shape = sections_shape(count);
  (void)begin_region(thread, {.body = body, .data = data, .thread_count = threads, .loop = &shape},
                     section_threads(thread, threads, count));
}

}  // namespace

#define SORREL_LOOP(name, kind, is_ordered)                                                       \
  SORREL_ENTRY_POINT bool GOMP_loop_##name##_start(long from, long to, long step, long chunk,     \
                                                   long* first, long* end) {                      \
    const ProgramCall call;                                                                       \
    return start(                                                                                 \
        shape_of(range_of(from, to, step), kind, static_cast<std::uint64_t>(chunk), is_ordered),  \
        first, end);                                                                              \
  }                                                                                               \
  SORREL_ENTRY_POINT bool GOMP_loop_##name##_next(long* first, long* end) {                       \
    return next(first, end);                                                                      \
  }                                                                                               \
  SORREL_ENTRY_POINT bool GOMP_loop_ull_##name##_start(bool is_up, Ull from, Ull to, Ull step,    \
                                                       Ull chunk, Ull* first, Ull* end) {         \
    const ProgramCall call;                                                                       \
    return start(shape_of(range_of(is_up, from, to, step), kind, chunk, is_ordered), first, end); \
  }                                                                                               \
  SORREL_ENTRY_POINT bool GOMP_loop_ull_##name##_next(Ull* first, Ull* end) {                     \
    return next(first, end);                                                                      \
  }

#define SORREL_RUN_LOOP(name, kind, is_ordered)                                                \
  SORREL_ENTRY_POINT bool GOMP_loop_##name##_start(long from, long to, long step, long* first, \
                                                   long* end) {                                \
    const ProgramCall call;                                                                    \
    return start(shape_of(range_of(from, to, step), kind, 0, is_ordered), first, end);         \
  }                                                                                            \
  SORREL_ENTRY_POINT bool GOMP_loop_##name##_next(long* first, long* end) {                    \
    return next(first, end);                                                                   \
  }                                                                                            \
  SORREL_ENTRY_POINT bool GOMP_loop_ull_##name##_start(bool is_up, Ull from, Ull to, Ull step, \
                                                       Ull* first, Ull* end) {                 \
    const ProgramCall call;                                                                    \
    return start(shape_of(range_of(is_up, from, to, step), kind, 0, is_ordered), first, end);  \
  }                                                                                            \
  SORREL_ENTRY_POINT bool GOMP_loop_ull_##name##_next(Ull* first, Ull* end) {                  \
    return next(first, end);                                                                   \
  }

#define SORREL_PARALLEL_LOOP(name, kind)                                                         \
  SORREL_ENTRY_POINT void GOMP_parallel_loop_##name(void (*body)(void*), void* data,             \
                                                    unsigned threads, long from, long to,        \
                                                    long step, long chunk, unsigned flags) {     \
    const ProgramCall call;                                                                      \
    push_bind(flags);                                                                            \
    parallel_loop(                                                                               \
        body, data, threads,                                                                     \
        shape_of(range_of(from, to, step), kind, static_cast<std::uint64_t>(chunk), unordered)); \
    call_task(this_thread(), body, data);                                                        \
    end_region(this_thread());                                                                   \
  }

#define SORREL_PARALLEL_RUN_LOOP(name, kind)                                                    \
  SORREL_ENTRY_POINT void GOMP_parallel_loop_##name(void (*body)(void*), void* data,            \
                                                    unsigned threads, long from, long to,       \
                                                    long step, unsigned flags) {                \
    const ProgramCall call;                                                                     \
    push_bind(flags);                                                                           \
    parallel_loop(body, data, threads, shape_of(range_of(from, to, step), kind, 0, unordered)); \
    call_task(this_thread(), body, data);                                                       \
    end_region(this_thread());                                                                  \
  }

#define SORREL_PARALLEL_LOOP_START(name, kind)                                                    \
  SORREL_ENTRY_POINT void GOMP_parallel_loop_##name##_start(void (*body)(void*), void* data,      \
                                                            unsigned threads, long from, long to, \
                                                            long step, long chunk) {              \
    const ProgramCall call;                                                                       \
    parallel_loop(                                                                                \
        body, data, threads,                                                                      \
        shape_of(range_of(from, to, step), kind, static_cast<std::uint64_t>(chunk), unordered));  \
  }

SORREL_LOOP(static, Kind::fixed, unordered)
SORREL_LOOP(dynamic, Kind::dynamic, unordered)
SORREL_LOOP(guided, Kind::guided, unordered)
SORREL_LOOP(nonmonotonic_dynamic, Kind::dynamic_in_any_order, unordered)
SORREL_LOOP(nonmonotonic_guided, Kind::guided, unordered)
SORREL_LOOP(ordered_static, Kind::fixed, ordered)
SORREL_LOOP(ordered_dynamic, Kind::dynamic, ordered)
SORREL_LOOP(ordered_guided, Kind::guided, ordered)
SORREL_RUN_LOOP(runtime, Kind::run, unordered)
SORREL_RUN_LOOP(nonmonotonic_runtime, Kind::run_in_any_order, unordered)
SORREL_RUN_LOOP(maybe_nonmonotonic_runtime, Kind::run_in_any_order, unordered)
SORREL_RUN_LOOP(ordered_runtime, Kind::run, ordered)
SORREL_PARALLEL_LOOP(static, Kind::fixed)
SORREL_PARALLEL_LOOP(dynamic, Kind::dynamic)
SORREL_PARALLEL_LOOP(guided, Kind::guided)
SORREL_PARALLEL_LOOP(nonmonotonic_dynamic, Kind::dynamic_in_any_order)
SORREL_PARALLEL_LOOP(nonmonotonic_guided, Kind::guided)
SORREL_PARALLEL_RUN_LOOP(runtime, Kind::run)
SORREL_PARALLEL_RUN_LOOP(nonmonotonic_runtime, Kind::run_in_any_order)
SORREL_PARALLEL_RUN_LOOP(maybe_nonmonotonic_runtime, Kind::run_in_any_order)
SORREL_PARALLEL_LOOP_START(static, Kind::fixed)
SORREL_PARALLEL_LOOP_START(dynamic, Kind::dynamic)
SORREL_PARALLEL_LOOP_START(guided, Kind::guided)

SORREL_ENTRY_POINT void GOMP_parallel_loop_runtime_start(
    void (*body)(void*), void* data, unsigned threads, long from, long to, long step) {
  const ProgramCall call;
  parallel_loop(body, data, threads, shape_of(range_of(from, to, step), Kind::run, 0, unordered));
}

#define SORREL_LOOP_START(name, is_ordered)                                                        \
  SORREL_ENTRY_POINT bool GOMP_loop_##name(long from, long to, long step, long schedule,           \
                                           long chunk, long* first, long* end,                     \
                                           std::uintptr_t* reductions, void** memory) {            \
    const ProgramCall call;                                                                        \
    return start_with(shape_of(range_of(from, to, step), Kind::dynamic,                            \
                               static_cast<std::uint64_t>(chunk), is_ordered),                     \
                      schedule, first, end, {.reductions = reductions, .memory = memory});         \
  }                                                                                                \
  SORREL_ENTRY_POINT bool GOMP_loop_ull_##name(bool is_up, Ull from, Ull to, Ull step,             \
                                               long schedule, Ull chunk, Ull* first, Ull* end,     \
                                               std::uintptr_t* reductions, void** memory) {        \
    const ProgramCall call;                                                                        \
    return start_with(shape_of(range_of(is_up, from, to, step), Kind::dynamic, chunk, is_ordered), \
                      schedule, first, end, {.reductions = reductions, .memory = memory});         \
  }

SORREL_LOOP_START(start, unordered)
SORREL_LOOP_START(ordered_start, ordered)

SORREL_ENTRY_POINT void GOMP_scope_start(std::uintptr_t* reductions) {
  const ProgramCall call;
  // Such code does not report the end of the block: it counts as empty.
  tell_kind(ompt::Work::scope);
  begin_loop(this_thread(), {}, {.reductions = reductions});
  end_loop(this_thread());
}

// With -fopenmp-ompt, GOMP_scope_end() follows the block. reductions: null if there are none.
SORREL_ENTRY_POINT void GOMP_scope_start_with_end(std::uintptr_t* reductions) {
  const ProgramCall call;
  if (reductions != nullptr) {
    tell_kind(ompt::Work::none);
    begin_loop(this_thread(), {}, {.reductions = reductions});
    end_loop(this_thread());
  }
  tell_block(ompt::Work::scope, ompt::Endpoint::begin, 1);
}

SORREL_ENTRY_POINT void GOMP_scope_end() {
  const ProgramCall call;
  tell_block(ompt::Work::scope, ompt::Endpoint::end, 1);
}

// Static loops of GCC 17, which their code cuts by itself: the number of threads or teams, and that
// of the caller. With -fopenmp-ompt, the construct has a beginning and an end, and reports its
// chunks on request.
SORREL_ENTRY_POINT std::uint64_t GOMP_loop_static_worksharing(Ull) {
  const TeamThread& thread = this_thread();
  return complex_of(thread.team->size, thread.number);
}

SORREL_ENTRY_POINT std::uint64_t GOMP_loop_static_worksharing_start(Ull trip_count) {
  const ProgramCall call;
  tell_block(ompt::Work::loop_static, ompt::Endpoint::begin, trip_count);
  return GOMP_loop_static_worksharing(trip_count);
}

SORREL_ENTRY_POINT void GOMP_loop_static_worksharing_dispatch(Ull start, Ull iterations) {
  const ProgramCall call;
  tell_part(ompt::Work::loop_static, start, iterations);
}

SORREL_ENTRY_POINT void GOMP_loop_static_worksharing_end() {
  const ProgramCall call;
  tell_block(ompt::Work::loop_static, ompt::Endpoint::end, 0);
}

SORREL_ENTRY_POINT std::uint64_t GOMP_distribute_static_worksharing(Ull) {
  const Team& team = *this_thread().team;
  return complex_of(team.league_size, team.league_number);
}

SORREL_ENTRY_POINT std::uint64_t GOMP_distribute_static_worksharing_start(Ull trip_count) {
  const ProgramCall call;
  tell_block(ompt::Work::distribute, ompt::Endpoint::begin, trip_count);
  return GOMP_distribute_static_worksharing(trip_count);
}

SORREL_ENTRY_POINT void GOMP_distribute_static_worksharing_dispatch(Ull start, Ull iterations) {
  const ProgramCall call;
  tell_part(ompt::Work::distribute, start, iterations);
}

SORREL_ENTRY_POINT void GOMP_distribute_static_worksharing_end() {
  const ProgramCall call;
  tell_block(ompt::Work::distribute, ompt::Endpoint::end, 0);
}

#define SORREL_END(name)                               \
  SORREL_ENTRY_POINT void GOMP_##name##_end() {        \
    const ProgramCall call;                            \
    end_loop(this_thread());                           \
    tell_kind(ompt::Sync::barrier_implicit_workshare); \
    (void)wait_at_barrier(this_thread());              \
  }                                                    \
  SORREL_ENTRY_POINT void GOMP_##name##_end_nowait() { \
    const ProgramCall call;                            \
    end_loop(this_thread());                           \
  }                                                    \
  SORREL_ENTRY_POINT bool GOMP_##name##_end_cancel() { \
    const ProgramCall call;                            \
    end_loop(this_thread());                           \
    tell_kind(ompt::Sync::barrier_implicit_workshare); \
    return wait_at_barrier(this_thread(), true);       \
  }

SORREL_END(loop)
SORREL_END(sections)

SORREL_ENTRY_POINT void GOMP_ordered_start() {
  const ProgramCall call;
  begin_ordered(this_thread());
}

SORREL_ENTRY_POINT void GOMP_ordered_end() {
  const ProgramCall call;
  end_ordered(this_thread());
}

SORREL_ENTRY_POINT unsigned GOMP_sections_start(unsigned count) {
  const ProgramCall call;
  begin_loop(this_thread(), sections_shape(count));
  return next_section();
}

SORREL_ENTRY_POINT unsigned GOMP_sections2_start(unsigned count,
                                                 std::uintptr_t* reductions,
                                                 void** memory) {
  const ProgramCall call;
  begin_loop(this_thread(), sections_shape(count), {.reductions = reductions, .memory = memory});
  return next_section();
}

SORREL_ENTRY_POINT unsigned GOMP_sections_next() {
  return next_section();
}

SORREL_ENTRY_POINT void GOMP_parallel_sections_start(void (*body)(void*),
                                                     void* data,
                                                     unsigned threads,
                                                     unsigned count) {
  const ProgramCall call;
  parallel_sections(body, data, threads, count);
}

SORREL_ENTRY_POINT void GOMP_parallel_sections(
    void (*body)(void*), void* data, unsigned threads, unsigned count, unsigned flags) {
  const ProgramCall call;
  push_bind(flags);
  parallel_sections(body, data, threads, count);
  call_task(this_thread(), body, data);
  end_region(this_thread());
}
