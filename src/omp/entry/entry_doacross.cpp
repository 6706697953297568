// GOMP_*: loops whose iterations wait for each other (depend(sink) and depend(source)); no logic.
#include <cstdarg>
#include <vector>

#include "omp/entry/entry_point.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/program_call.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/worksharing/doacross.hpp"

namespace {

using namespace sorrel::omp;
using Ull = unsigned long long;

/// Prepared by the first thread; later threads find it.
template <class Number>
bool start(unsigned dimension_count,
           const Number* counts,
           LoopShape shape,
           const LoopExtras& extras,
           Number* first,
           Number* end) {
  TeamThread& thread = this_thread();
  shape.start = 0;
  shape.step = 1;
  shape.end = static_cast<std::uint64_t>(counts[0]);
  shape.trip_count = shape.end;
  shape.is_monotonic = true;
  begin_doacross(thread, shape, extras, dimension_count,
                 [&](unsigned i) { return static_cast<std::uint64_t>(counts[i]); });
  if (first == nullptr) return true;
  Chunk chunk;
  if (!next_chunk(thread, chunk)) return false;
  *first = static_cast<Number>(chunk.begin);
  *end = static_cast<Number>(chunk.end);
  return true;
}

/// The numbers of an iteration in all dimensions of the loop: the first one, and that of the inner
/// dimensions together.
struct Iteration {
  std::uint64_t outer;
  std::uint64_t inner = 0;
};

/// number_of(i): that of dimension i, called in order.
template <class NumberOf>
Iteration iteration_of(const TeamThread& thread, ompt::DependenceKind kind, NumberOf number_of) {
  const WorkShare& share = *thread.share;
  std::vector<std::uint64_t> told;
  Iteration iteration{number_of(0)};
  if (has_tool()) [[unlikely]]
    told.push_back(iteration.outer);
  for (unsigned i = 1; i < share.dimension_count; ++i) {
    const std::uint64_t number = number_of(i);
    iteration.inner = iteration.inner * share.counts[i] + number;
    if (has_tool()) [[unlikely]]
      told.push_back(number);
  }
  if (!told.empty()) [[unlikely]]
    tell_doacross(thread, kind, told.data(), told.size());
  return iteration;
}

template <class Number>
void post(const Number* counts) {
  const TeamThread& thread = this_thread();
  const Iteration iteration = iteration_of(thread, ompt::DependenceKind::source, [&](unsigned i) {
    return static_cast<std::uint64_t>(counts[i]);
  });
  post_iteration(*thread.share, iteration.outer, iteration.inner);
}

template <class Number>
void wait(Number first, va_list rest) {
  TeamThread& thread = this_thread();
  const Iteration iteration = iteration_of(thread, ompt::DependenceKind::sink, [&](unsigned i) {
    return static_cast<std::uint64_t>(i == 0 ? first : va_arg(rest, Number));
  });
  wait_for_iteration(thread, *thread.share, iteration.outer, iteration.inner);
}

LoopShape shape_of(std::uint64_t chunk, Schedule schedule) {
  return {.chunk = chunk, .schedule = schedule};
}

LoopShape run_shape() {
  LoopShape shape;
  apply_run_schedule(this_thread(), shape);
  return shape;
}

LoopShape shape_by_number(long schedule, std::uint64_t chunk) {
  LoopShape shape{.chunk = chunk};
  apply_schedule(this_thread(), schedule, shape);
  return shape;
}

}  // namespace

#define SORREL_DOACROSS(name, schedule)                                                            \
  SORREL_ENTRY_POINT bool GOMP_loop_doacross_##name##_start(unsigned count, long* counts,          \
                                                            long chunk, long* first, long* end) {  \
    return start(count, counts, shape_of(static_cast<std::uint64_t>(chunk), schedule), {}, first,  \
                 end);                                                                             \
  }                                                                                                \
  SORREL_ENTRY_POINT bool GOMP_loop_ull_doacross_##name##_start(unsigned count, Ull* counts,       \
                                                                Ull chunk, Ull* first, Ull* end) { \
    return start(count, counts, shape_of(chunk, schedule), {}, first, end);                        \
  }

SORREL_DOACROSS(static, Schedule::fixed)
SORREL_DOACROSS(dynamic, Schedule::dynamic)
SORREL_DOACROSS(guided, Schedule::guided)

SORREL_ENTRY_POINT bool GOMP_loop_doacross_runtime_start(unsigned count,
                                                         long* counts,
                                                         long* first,
                                                         long* end) {
  return start(count, counts, run_shape(), {}, first, end);
}

SORREL_ENTRY_POINT bool GOMP_loop_ull_doacross_runtime_start(unsigned count,
                                                             Ull* counts,
                                                             Ull* first,
                                                             Ull* end) {
  return start(count, counts, run_shape(), {}, first, end);
}

SORREL_ENTRY_POINT bool GOMP_loop_doacross_start(unsigned count,
                                                 long* counts,
                                                 long schedule,
                                                 long chunk,
                                                 long* first,
                                                 long* end,
                                                 std::uintptr_t* reductions,
                                                 void** memory) {
  return start(count, counts, shape_by_number(schedule, static_cast<std::uint64_t>(chunk)),
               {.reductions = reductions, .memory = memory}, first, end);
}

SORREL_ENTRY_POINT bool GOMP_loop_ull_doacross_start(unsigned count,
                                                     Ull* counts,
                                                     long schedule,
                                                     Ull chunk,
                                                     Ull* first,
                                                     Ull* end,
                                                     std::uintptr_t* reductions,
                                                     void** memory) {
  return start(count, counts, shape_by_number(schedule, chunk),
               {.reductions = reductions, .memory = memory}, first, end);
}

SORREL_ENTRY_POINT void GOMP_doacross_post(long* counts) {
  const ProgramCall call;
  post(counts);
}

SORREL_ENTRY_POINT void GOMP_doacross_ull_post(Ull* counts) {
  const ProgramCall call;
  post(counts);
}

SORREL_ENTRY_POINT void GOMP_doacross_wait(long first, ...) {
  const ProgramCall call;
  va_list rest;
  va_start(rest, first);
  wait(first, rest);
  va_end(rest);
}

SORREL_ENTRY_POINT void GOMP_doacross_ull_wait(Ull first, ...) {
  const ProgramCall call;
  va_list rest;
  va_start(rest, first);
  wait(first, rest);
  va_end(rest);
}
