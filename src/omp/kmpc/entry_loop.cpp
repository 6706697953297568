// __kmpc_*: loops that the compiler cuts by itself (static), loops whose chunks it asks for
// (dispatch), ordered, and loops whose iterations wait for each other (doacross).
#include <algorithm>
#include <type_traits>
#include <vector>

#include "omp/kernel/perturb.hpp"
#include "omp/kmpc/interface.hpp"
#include "omp/region/program_call.hpp"
#include "omp/tasking/member_state.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/worksharing/doacross.hpp"

namespace {

using namespace sorrel::omp;
using namespace sorrel::omp::kmpc;

// Kinds of schedules. A kind may have modifiers, and ordered loops have numbers of their own.
constexpr std::int32_t static_chunked = 33;
constexpr std::int32_t static_even = 34;
constexpr std::int32_t dynamic_chunked = 35;
constexpr std::int32_t guided_chunked = 36;
constexpr std::int32_t by_run_schedule = 37;
constexpr std::int32_t static_greedy = 40;
constexpr std::int32_t static_balanced = 41;
constexpr std::int32_t guided_iterative = 42;
constexpr std::int32_t guided_analytical = 43;
constexpr std::int32_t static_steal = 44;
constexpr std::int32_t static_balanced_chunked = 45;
constexpr std::int32_t guided_simd = 46;
constexpr std::int32_t by_run_schedule_simd = 47;
constexpr std::int32_t distribute_chunked = 91;
constexpr std::int32_t distribute_even = 92;
constexpr std::int32_t ordered_lower = 64;
constexpr std::int32_t ordered_upper = 72;
constexpr std::int32_t ordered_offset = 32;
constexpr std::int32_t nomerge_lower = 160;
constexpr std::int32_t nomerge_offset = 128;
constexpr std::int32_t monotonic = 1 << 29;
constexpr std::int32_t nonmonotonic = 1 << 30;

struct Kind {
  std::int32_t schedule;
  bool is_ordered;
  bool is_monotonic;
};

Kind kind_of(std::int32_t number) {
  Kind kind{.schedule = number & ~(monotonic | nonmonotonic),
            .is_ordered = false,
            .is_monotonic = (number & nonmonotonic) == 0};
  if (kind.schedule >= nomerge_lower) kind.schedule -= nomerge_offset;
  if (kind.schedule >= ordered_lower && kind.schedule <= ordered_upper) {
    kind.is_ordered = true;
    kind.schedule -= ordered_offset;
  }
  return kind;
}

/// Iterations from lower to upper, both included.
template <class Number>
std::uint64_t trips(Number lower, Number upper, std::make_signed_t<Number> step) {
  if (step > 0) {
    if (upper < lower) return 0;
    return (static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower)) /
               static_cast<std::uint64_t>(step) +
           1;
  }
  if (lower < upper || step == 0) return 0;
  const std::uint64_t down = 0 - static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
  return (static_cast<std::uint64_t>(lower) - static_cast<std::uint64_t>(upper)) / down + 1;
}

/// One of the parts of an iteration space, by numbers of iterations.
struct Part {
  std::uint32_t number;
  std::uint32_t count;
};

/// What a thread gets of a loop: its first chunk, and the distance to its next one.
template <class Number>
struct Share {
  Number lower;
  Number upper;
  std::make_signed_t<Number> stride;
  bool has_last;
};

template <class Number>
Share<Number> share_of(Number lower,
                       Number upper,
                       std::make_signed_t<Number> step,
                       std::int32_t schedule,
                       std::int64_t chunk,
                       const Part& part) {
  using Signed = std::make_signed_t<Number>;
  const std::uint64_t count = trips(lower, upper, step);
  const auto at = [&](std::uint64_t iteration) {
    return static_cast<Number>(static_cast<std::uint64_t>(lower) +
                               iteration *
                                   static_cast<std::uint64_t>(static_cast<std::int64_t>(step)));
  };
  if (count == 0) return {.lower = lower, .upper = upper, .stride = step, .has_last = false};
  // Iterations [begin, begin + size) are those of the part.
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t stride = count;
  bool has_last = false;
  if (schedule == static_chunked || schedule == distribute_chunked) {
    size = static_cast<std::uint64_t>(std::max<std::int64_t>(chunk, 1));
    size = std::min(size, count);
    begin = size * part.number;
    stride = size * part.count;
    has_last = part.number == (count - 1) / size % part.count;
  } else if (schedule == static_balanced_chunked) {
    const auto grain = static_cast<std::uint64_t>(std::max<std::int64_t>(chunk, 1));
    size = ((count + part.count - 1) / part.count + grain - 1) / grain * grain;
    begin = size * part.number;
    has_last = part.number == (count - 1) / size;
  } else {
    const std::uint64_t each = count / part.count;
    const std::uint64_t rest = count % part.count;
    begin = each * part.number + std::min<std::uint64_t>(part.number, rest);
    size = each + (part.number < rest ? 1 : 0);
    has_last = size != 0 && begin + size == count;
  }
  if (size == 0 || begin >= count) {
    // An empty range, which cannot overflow: none after the last one, or before the first.
    return {.lower = static_cast<Number>(step > 0 ? 1 : 0),
            .upper = static_cast<Number>(step > 0 ? 0 : 1),
            .stride = step,
            .has_last = false};
  }
  size = std::min(size, count - begin);
  return {.lower = at(begin),
          .upper = at(begin + size - 1),
          .stride = static_cast<Signed>(
              stride * static_cast<std::uint64_t>(static_cast<std::int64_t>(step))),
          .has_last = has_last};
}

Part part_of_team(const TeamThread& thread) {
  return {thread.number, thread.team->size};
}

Part part_of_league(const TeamThread& thread) {
  return {thread.team->league_number, thread.team->league_size};
}

template <class Number>
struct StaticLoop {
  std::int32_t* is_last;
  Number* lower;
  Number* upper;
  std::make_signed_t<Number>* stride;
  std::make_signed_t<Number> step;
  std::make_signed_t<Number> chunk;
};

template <class Number>
void begin_static(std::int32_t number, const StaticLoop<Number>& loop) {
  const Kind kind = kind_of(number);
  const TeamThread& thread = this_thread();
  const bool is_distributed =
      kind.schedule == distribute_chunked || kind.schedule == distribute_even;
  const Part part = is_distributed ? part_of_league(thread) : part_of_team(thread);
  const auto share =
      share_of<Number>(*loop.lower, *loop.upper, loop.step, kind.schedule, loop.chunk, part);
  *loop.lower = share.lower;
  *loop.upper = share.upper;
  *loop.stride = share.stride;
  if (loop.is_last != nullptr) *loop.is_last = share.has_last ? 1 : 0;
}

/// To a tool, the construct that a call belongs to.
ompt::Work work_of(const Ident* place) {
  constexpr std::int32_t is_sections = 0x400;
  constexpr std::int32_t is_distribute = 0x800;
  const std::int32_t flags = place == nullptr ? 0 : place->flags;
  if ((flags & is_sections) != 0) return ompt::Work::sections;
  return (flags & is_distribute) != 0 ? ompt::Work::distribute : ompt::Work::loop_static;
}

template <class Number>
void begin_told_static(const Ident* place, std::int32_t number, const StaticLoop<Number>& loop) {
  if (has_tool()) [[unlikely]] {
    tell_work(this_thread(), work_of(place), ompt::Endpoint::begin,
              trips(*loop.lower, *loop.upper, loop.step));
  }
  begin_static<Number>(number, loop);
  if (has_tool()) [[unlikely]] {
    // The thread's first chunk; the program computes further ones.
    const std::uint64_t count = trips(*loop.lower, *loop.upper, loop.step);
    if (count != 0)
      tell_dispatch(this_thread(), work_of(place),
                    {static_cast<std::uint64_t>(*loop.lower), count});
  }
}

/// distribute parallel for: first to the teams of a league, then to the threads of a team.
template <class Number>
void begin_static_in_league(std::int32_t number,
                            const StaticLoop<Number>& loop,
                            Number* team_upper) {
  const TeamThread& thread = this_thread();
  const auto team =
      share_of<Number>(*loop.lower, *loop.upper, loop.step, static_even, 0, part_of_league(thread));
  *loop.lower = team.lower;
  *loop.upper = team.upper;
  *team_upper = team.upper;
  begin_told_static<Number>(nullptr, number, loop);
  if (loop.is_last != nullptr && !team.has_last) *loop.is_last = 0;
}

template <class Number>
void begin_dispatch(std::int32_t number,
                    Number lower,
                    Number upper,
                    std::make_signed_t<Number> step,
                    std::make_signed_t<Number> chunk) {
  TeamThread& thread = this_thread();
  const Kind kind = kind_of(number);
  const auto wide_step = static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
  LoopShape shape{.start = static_cast<std::uint64_t>(lower),
                  .end = 0,
                  .step = wide_step,
                  .trip_count = trips(lower, upper, step),
                  .chunk = static_cast<std::uint64_t>(
                      std::max<std::int64_t>(static_cast<std::int64_t>(chunk), 1)),
                  .schedule = Schedule::dynamic,
                  .is_ordered = kind.is_ordered,
                  .is_monotonic = kind.is_monotonic};
  shape.end = shape.start + shape.trip_count * wide_step;
  switch (kind.schedule) {
    case static_chunked:
      shape.schedule = Schedule::fixed;
      break;
    case dynamic_chunked:
    case static_steal:
      break;
    case guided_chunked:
    case guided_iterative:
    case guided_analytical:
    case guided_simd:
      shape.schedule = Schedule::guided;
      break;
    case by_run_schedule:
      apply_run_schedule(thread, shape);
      shape.is_monotonic = thread.icv.is_monotonic;
      break;
    case by_run_schedule_simd: {
      // Chunks are of whole vectors, whose length the compiler passes as the chunk.
      const std::uint64_t length = shape.chunk;
      apply_run_schedule(thread, shape);
      shape.is_monotonic = thread.icv.is_monotonic;
      const std::uint64_t block = (shape.trip_count + thread.team->size - 1) / thread.team->size;
      const bool is_block = shape.chunk == 0 && shape.schedule != Schedule::dynamic &&
                            shape.schedule != Schedule::guided;
      if (is_block) shape.schedule = Schedule::fixed;
      shape.chunk = is_block ? std::max((block + length - 1) / length, std::uint64_t{1}) * length
                             : std::max(shape.chunk, std::uint64_t{1}) * length;
      shape.has_multiples = true;
      break;
    }
    default:
      // static, auto, and kinds that only Intel's library knows: a block for each thread.
      shape.schedule = Schedule::fixed;
      shape.chunk = 0;
  }
  begin_loop(thread, shape);
}

template <class Number>
std::int32_t next_dispatch(std::int32_t* is_last,
                           Number* lower,
                           Number* upper,
                           std::make_signed_t<Number>* step) {
  TeamThread& thread = this_thread();
  WorkShare* const share = thread.share;
  if (share == nullptr) return 0;
  perturb(thread.number, PerturbedPoint::take);
  Chunk chunk;
  bool is_some = false;
  if (!thread.team->is_construct_cancelled(cancelled_loop | cancelled_sections) &&
      !thread.team->is_cancelled()) {
    if (share->chunk_count != 0) {
      std::uint64_t number = 0;
      is_some = thread.member_state->batch.take(number) || next_batch(thread, *share, number);
      chunk.begin = number * share->loop.chunk;
      chunk.end = std::min(chunk.begin + share->loop.chunk, share->loop.trip_count);
    } else {
      is_some = next_chunk(thread, chunk);
    }
  }
  if (!is_some) {
    end_loop(thread);
    return 0;
  }
  if (has_tool()) [[unlikely]]
    tell_chunk(thread, chunk);
  const LoopShape& loop = share->loop;
  *lower = static_cast<Number>(loop.start + chunk.begin * loop.step);
  *upper = static_cast<Number>(loop.start + (chunk.end - 1) * loop.step);
  if (step != nullptr) *step = static_cast<std::make_signed_t<Number>>(loop.step);
  if (is_last != nullptr) *is_last = chunk.end == loop.trip_count ? 1 : 0;
  return 1;
}

/// A dimension of a doacross loop: from lower to upper, both included.
struct Dimension {
  std::int64_t lower;
  std::int64_t upper;
  std::int64_t step;
};

/// The number of an iteration in a dimension; false if it lies outside.
bool iteration_of(const Dimension& dimension, std::int64_t value, std::uint64_t& iteration) {
  const bool is_up = dimension.step > 0;
  if (is_up ? value < dimension.lower || value > dimension.upper
            : value > dimension.lower || value < dimension.upper)
    return false;
  iteration = trips<std::int64_t>(dimension.lower, value, dimension.step) - 1;
  return true;
}

/// The outermost iteration of the thread's doacross loop, and the number of the inner one.
bool position_of(const TeamThread& thread,
                 ompt::DependenceKind kind,
                 const std::int64_t* vector,
                 std::uint64_t& outer,
                 std::uint64_t& inner) {
  const auto* dimensions = static_cast<const Dimension*>(thread.doacross_dimensions);
  const WorkShare& share = *thread.doacross_share;
  inner = 0;
  for (std::uint32_t i = 0; i < share.dimension_count; ++i) {
    std::uint64_t iteration = 0;
    if (!iteration_of(dimensions[i], vector[i], iteration)) return false;
    if (i == 0) {
      outer = iteration;
    } else {
      inner = inner * share.counts[i] + iteration;
    }
  }
  if (has_tool()) [[unlikely]] {
    const std::vector<std::uint64_t> values(vector, vector + share.dimension_count);
    tell_doacross(thread, kind, values.data(), values.size());
  }
  return true;
}

}  // namespace

#define SORREL_STATIC(suffix, Number)                                                             \
  SORREL_KMPC void __kmpc_for_static_init_##suffix(                                               \
      Ident* place, std::int32_t, std::int32_t kind, std::int32_t* is_last, Number* lower,        \
      Number* upper, std::make_signed_t<Number>* stride, std::make_signed_t<Number> step,         \
      std::make_signed_t<Number> chunk) {                                                         \
    const ProgramCall call;                                                                       \
    begin_told_static<Number>(place, kind, {is_last, lower, upper, stride, step, chunk});         \
  }                                                                                               \
  SORREL_KMPC void __kmpc_dist_for_static_init_##suffix(                                          \
      Ident*, std::int32_t, std::int32_t kind, std::int32_t* is_last, Number* lower,              \
      Number* upper, Number* team_upper, std::make_signed_t<Number>* stride,                      \
      std::make_signed_t<Number> step, std::make_signed_t<Number> chunk) {                        \
    const ProgramCall call;                                                                       \
    begin_static_in_league<Number>(kind, {is_last, lower, upper, stride, step, chunk},            \
                                   team_upper);                                                   \
  }                                                                                               \
  SORREL_KMPC void __kmpc_team_static_init_##suffix(                                              \
      Ident*, std::int32_t, std::int32_t* is_last, Number* lower, Number* upper,                  \
      std::make_signed_t<Number>* stride, std::make_signed_t<Number> step,                        \
      std::make_signed_t<Number> chunk) {                                                         \
    begin_static<Number>(distribute_chunked, {is_last, lower, upper, stride, step, chunk});       \
  }                                                                                               \
  SORREL_KMPC void __kmpc_dispatch_init_##suffix(                                                 \
      Ident*, std::int32_t, std::int32_t kind, Number lower, Number upper,                        \
      std::make_signed_t<Number> step, std::make_signed_t<Number> chunk) {                        \
    const ProgramCall call;                                                                       \
    begin_dispatch<Number>(kind, lower, upper, step, chunk);                                      \
  }                                                                                               \
  SORREL_KMPC void __kmpc_dist_dispatch_init_##suffix(                                            \
      Ident*, std::int32_t, std::int32_t kind, std::int32_t* is_last, Number lower, Number upper, \
      std::make_signed_t<Number> step, std::make_signed_t<Number> chunk) {                        \
    const ProgramCall call;                                                                       \
    const auto team =                                                                             \
        share_of<Number>(lower, upper, step, static_even, 0, part_of_league(this_thread()));      \
    if (is_last != nullptr) *is_last = team.has_last ? 1 : 0;                                     \
    begin_dispatch<Number>(kind, team.lower, team.upper, step, chunk);                            \
  }                                                                                               \
  SORREL_KMPC std::int32_t __kmpc_dispatch_next_##suffix(                                         \
      Ident*, std::int32_t, std::int32_t* is_last, Number* lower, Number* upper,                  \
      std::make_signed_t<Number>* step) {                                                         \
    const ProgramCall call;                                                                       \
    return next_dispatch<Number>(is_last, lower, upper, step);                                    \
  }                                                                                               \
  SORREL_KMPC void __kmpc_dispatch_fini_##suffix(Ident*, std::int32_t) {}

SORREL_STATIC(4, std::int32_t)
SORREL_STATIC(4u, std::uint32_t)
SORREL_STATIC(8, std::int64_t)
SORREL_STATIC(8u, std::uint64_t)

SORREL_KMPC void __kmpc_for_static_fini(Ident* place, std::int32_t) {
  const ProgramCall call;
  if (has_tool()) [[unlikely]]
    tell_work(this_thread(), work_of(place), ompt::Endpoint::end, 0);
}

SORREL_KMPC void __kmpc_dispatch_deinit(Ident*, std::int32_t) {
  leave_open_loop(this_thread());
}

// Sections that the threads of a team ask for one by one. 0: one thread runs all, without asking.
SORREL_KMPC std::int32_t __kmpc_sections_init(Ident*, std::int32_t) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  if (thread.team->size == 1) return 0;
  constexpr std::uint64_t section_count_max = std::uint64_t{1} << 31;
  if (has_tool()) [[unlikely]]
    thread.tool_work = ompt::Work::sections;
  begin_loop(thread, {.start = 0,
                      .end = section_count_max,
                      .step = 1,
                      .trip_count = section_count_max,
                      .chunk = 1,
                      .schedule = Schedule::dynamic,
                      .is_monotonic = true});
  return 1;
}

// The number of the next section, or `count` if there is none.
SORREL_KMPC std::int32_t __kmpc_next_section(Ident*, std::int32_t, std::int32_t count) {
  TeamThread& thread = this_thread();
  Chunk chunk;
  if (thread.share == nullptr || thread.team->is_cancelled() ||
      thread.team->is_construct_cancelled(cancelled_sections) || !next_chunk(thread, chunk))
    return count;
  if (chunk.begin >= static_cast<std::uint64_t>(count)) return count;
  if (has_tool()) [[unlikely]]
    tell_chunk(thread, chunk);
  return static_cast<std::int32_t>(chunk.begin);
}

SORREL_KMPC void __kmpc_end_sections(Ident*, std::int32_t) {
  leave_open_loop(this_thread());
}

SORREL_KMPC void __kmpc_ordered(Ident*, std::int32_t) {
  const ProgramCall call;
  begin_ordered(this_thread());
}

SORREL_KMPC void __kmpc_end_ordered(Ident*, std::int32_t) {
  const ProgramCall call;
  end_ordered(this_thread());
}

SORREL_KMPC void __kmpc_doacross_init(Ident*,
                                      std::int32_t,
                                      std::int32_t count,
                                      const Dimension* dimensions) {
  TeamThread& thread = this_thread();
  const auto count_of = [&](unsigned i) {
    return trips<std::int64_t>(dimensions[i].lower, dimensions[i].upper, dimensions[i].step);
  };
  if (has_tool()) [[unlikely]]
    thread.tool_work = ompt::Work::none;
  begin_doacross(thread, {}, {}, static_cast<unsigned>(count), count_of);
  thread.doacross_share = thread.share;
  auto* const copy = new Dimension[static_cast<std::size_t>(count)];
  std::copy_n(dimensions, count, copy);
  thread.doacross_dimensions = copy;
  // The loop itself has another share.
  thread.share = nullptr;
}

SORREL_KMPC void __kmpc_doacross_post(Ident*, std::int32_t, const std::int64_t* vector) {
  const ProgramCall call;
  const TeamThread& thread = this_thread();
  std::uint64_t outer = 0;
  std::uint64_t inner = 0;
  if (position_of(thread, ompt::DependenceKind::source, vector, outer, inner))
    post_iteration(*thread.doacross_share, outer, inner);
}

SORREL_KMPC void __kmpc_doacross_wait(Ident*, std::int32_t, const std::int64_t* vector) {
  const ProgramCall call;
  TeamThread& thread = this_thread();
  std::uint64_t outer = 0;
  std::uint64_t inner = 0;
  if (position_of(thread, ompt::DependenceKind::sink, vector, outer, inner))
    wait_for_iteration(thread, *thread.doacross_share, outer, inner);
}

SORREL_KMPC void __kmpc_doacross_fini(Ident*, std::int32_t) {
  TeamThread& thread = this_thread();
  leave_open_loop(thread);
  thread.share = thread.doacross_share;
  thread.doacross_share = nullptr;
  delete[] static_cast<const Dimension*>(thread.doacross_dimensions);
  thread.doacross_dimensions = nullptr;
  end_loop(thread);
}
