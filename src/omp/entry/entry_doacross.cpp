// GOMP_*: loops whose iterations wait for each other (depend(sink) and depend(source)); no logic.
#include <cstdarg>

#include "omp/entry/entry_point.hpp"
#include "omp/region/native_thread.hpp"
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

template <class Number>
void post_all(const Number* counts) {
  WorkShare& share = *this_thread().share;
  std::uint64_t inner = 0;
  for (unsigned i = 1; i < share.dimension_count; ++i)
    inner = inner * share.counts[i] + static_cast<std::uint64_t>(counts[i]);
  post_iteration(share, static_cast<std::uint64_t>(counts[0]), inner);
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
  post_all(counts);
}

SORREL_ENTRY_POINT void GOMP_doacross_ull_post(Ull* counts) {
  post_all(counts);
}

SORREL_ENTRY_POINT void GOMP_doacross_wait(long first, ...) {
  TeamThread& thread = this_thread();
  WorkShare& share = *thread.share;
  std::uint64_t inner = 0;
  va_list rest;
  va_start(rest, first);
  for (unsigned i = 1; i < share.dimension_count; ++i)
    inner = inner * share.counts[i] + static_cast<std::uint64_t>(va_arg(rest, long));
  va_end(rest);
  wait_for_iteration(thread, share, static_cast<std::uint64_t>(first), inner);
}

SORREL_ENTRY_POINT void GOMP_doacross_ull_wait(Ull first, ...) {
  TeamThread& thread = this_thread();
  WorkShare& share = *thread.share;
  std::uint64_t inner = 0;
  va_list rest;
  va_start(rest, first);
  for (unsigned i = 1; i < share.dimension_count; ++i)
    inner = inner * share.counts[i] + va_arg(rest, Ull);
  va_end(rest);
  wait_for_iteration(thread, share, first, inner);
}
