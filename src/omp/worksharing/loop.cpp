#include "omp/worksharing/loop.hpp"

#include <cstdlib>
#include <cstring>

#include "arch/cpu.hpp"
#include "base/check.hpp"
#include "omp/kernel/perturb.hpp"
#include "omp/sched/schedule.hpp"
#include "omp/tasking/member_state.hpp"
#include "omp/tasking/reduction.hpp"
#include "omp/tasking/tasking.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/team/task_memory.hpp"
#include "omp/team/team.hpp"

namespace sorrel::omp {

namespace {

/// Up to this number, every thread can add one more chunk without passing 2^64.
constexpr std::uint64_t additive_max = std::uint64_t{1} << 48;

bool take_dynamic(WorkShare& share, Chunk& chunk) {
  const LoopShape& loop = share.loop;
  // All relaxed: iterations carry no data; (P) published the loop.
  std::uint64_t begin = 0;
  if (loop.trip_count < additive_max) {
    // No load before the addition: the line is fetched once.
    begin = share.next.fetch_add(loop.chunk, std::memory_order_relaxed);
    if (begin >= loop.trip_count) return false;
  } else {
    begin = share.next.load(std::memory_order_relaxed);
    if (begin >= loop.trip_count) return false;
    while (!share.next.compare_exchange_weak(
        begin, begin + std::min(loop.chunk, loop.trip_count - begin), std::memory_order_relaxed)) {
      if (begin >= loop.trip_count) return false;
    }
  }
  chunk = {begin, begin + std::min(loop.chunk, loop.trip_count - begin)};
  return true;
}

/// The batch sizes of the thread in its current loop.
BatchTuner& batch_tuner_of(const TeamThread& thread, const WorkShare& share) {
  MemberState& member_state = *thread.member_state;
  if (member_state.tuned_loop == thread.share_count) return member_state.batch_tuner;
  member_state.tuned_loop = thread.share_count;
  member_state.chunks_begun = 0;
  if (member_state.tuned_count != share.chunk_count || member_state.tuned_stride != share.stride) {
    member_state.tuned_count = share.chunk_count;
    member_state.tuned_stride = share.stride;
    member_state.batch_tuner = {};
  }
  return member_state.batch_tuner;
}

/// Decides whether the loop is taken in batches: then `next` counts its chunks. The caller, which
/// opens the loop, gets its first batch at once.
void plan_batches(const TeamThread& thread, WorkShare& share) {
  const LoopShape& loop = share.loop;
  share.chunk_count = 0;
  const std::uint32_t size = thread.team->size;
  // With few chunks, the search for batches costs more than they save.
  constexpr std::uint64_t chunks_per_thread_min = 16;
  if (loop.schedule != Schedule::dynamic || loop.is_monotonic || loop.is_ordered || size == 1 ||
      loop.trip_count / chunks_per_thread_min < loop.chunk * size)
    return;
  const std::uint64_t count = (loop.trip_count - 1) / loop.chunk + 1;
  if (count > Batch::chunk_count_max) return;
  share.chunk_count = count;
  share.stride = loop.chunk * loop.step;
  MemberState& member_state = *thread.member_state;
  // No other thread is in the loop; a thread that comes takes half of the batch.
  member_state.chunks_begun = batch_tuner_of(thread, share).next(count, 1, arch::cycles);
  member_state.batch.fill(thread.share_count, {0, member_state.chunks_begun});
  // Relaxed: (P) publishes them.
  share.next.store(member_state.chunks_begun, std::memory_order_relaxed);
  share.batch_owner.store(member_state.chunks_begun > 1 ? thread.number : WorkShare::no_owner,
                          std::memory_order_relaxed);
}

/// Publishes that the thread has chunks that others may steal.
void announce_batch(const TeamThread& thread, WorkShare& share) {
  std::uint32_t owner = share.batch_owner.load(std::memory_order_relaxed);
  if (owner == thread.number || owner == WorkShare::several) return;
  if (owner == WorkShare::no_owner &&
      share.batch_owner.compare_exchange_strong(owner, thread.number, std::memory_order_relaxed))
    return;
  share.batch_owner.store(WorkShare::several, std::memory_order_relaxed);
}

/// Returns the first of `chunks` for the thread to run, and makes the rest its batch.
std::uint64_t begin_batch(const TeamThread& thread, WorkShare& share, ChunkRange chunks) {
  if (chunks.begin + 1 < chunks.end) {
    thread.member_state->batch.fill(thread.share_count, {chunks.begin + 1, chunks.end});
    announce_batch(thread, share);
  }
  return chunks.begin;
}

/// Steals from a thread that has taken more than it has run, perhaps because it has no core.
ChunkRange steal_chunks(const TeamThread& thread, const WorkShare& share) {
  const std::uint32_t owner = share.batch_owner.load(std::memory_order_relaxed);
  if (owner == WorkShare::no_owner || owner == thread.number) return {};
  const Team& team = *thread.team;
  if (owner != WorkShare::several) return team.member_states[owner].batch.steal(thread.share_count);
  for (std::uint32_t i = 1; i < team.size; ++i) {
    MemberState& member_state = team.member_states[(thread.number + i) % team.size];
    const ChunkRange chunks = member_state.batch.steal(thread.share_count);
    if (!chunks.empty()) return chunks;
  }
  return {};
}

bool take_guided(WorkShare& share, std::uint32_t thread_count, Chunk& chunk) {
  const LoopShape& loop = share.loop;
  std::uint64_t begin = share.next.load(std::memory_order_relaxed);
  for (;;) {
    if (begin >= loop.trip_count) return false;
    const std::uint64_t left = loop.trip_count - begin;
    std::uint64_t size = guided_size(left, loop.chunk, thread_count);
    if (loop.has_multiples)
      size = std::min(left, (size + loop.chunk - 1) / loop.chunk * loop.chunk);
    if (!share.next.compare_exchange_weak(begin, begin + size, std::memory_order_relaxed)) continue;
    chunk = {begin, begin + size};
    return true;
  }
}

struct Turn {
  const WorkShare* share;
  std::uint64_t begin;

  static bool has_come(void* argument) {
    const auto& self = *static_cast<const Turn*>(argument);
    // (N), pairs with pass_turn().
    return self.share->ordered_next.load(waiter_order) == self.begin;
  }
};

void pass_turn(TeamThread& thread) {
  if (!thread.holds_chunk) return;
  wait_for_turn(thread);
  WorkShare& share = *thread.share;
  thread.holds_chunk = false;
  // (N), pairs with Turn.
  [[maybe_unused]] const std::uint64_t turn =
      share.ordered_next.exchange(thread.chunk_end, waker_order);
  SORREL_ASSERT(turn == thread.chunk_begin && turn < thread.chunk_end);
  wake_all(share.waiters);
}

/// To a tool, the kind of a loop with that schedule, or of another construct.
ompt::Work work_of(ompt::Work kind, Schedule schedule) {
  if (kind != ompt::Work::loop) return kind;
  if (schedule == Schedule::dynamic) return ompt::Work::loop_dynamic;
  return schedule == Schedule::guided ? ompt::Work::loop_guided : ompt::Work::loop_static;
}

void* zeroed(std::size_t bytes) {
  return std::memset(aligned_memory(cache_line_bytes, bytes), 0, bytes);
}

}  // namespace

void apply_run_schedule(const TeamThread& thread, LoopShape& shape) {
  shape.schedule = thread.icv.schedule;
  shape.chunk = static_cast<std::uint64_t>(thread.icv.chunk);
  if (shape.schedule == Schedule::automatic) shape.chunk = 0;
}

void apply_schedule(const TeamThread& thread, long schedule, LoopShape& shape) {
  constexpr long monotonic = 0x8000'0000L;
  const long number = schedule & ~monotonic & 0xFFFF'FFFFL;
  shape.is_monotonic = (schedule & monotonic) != 0;
  if (number == 0) {
    apply_run_schedule(thread, shape);
    shape.is_monotonic |= thread.icv.is_monotonic;
  } else if (number < static_cast<long>(Schedule::automatic)) {
    shape.schedule = static_cast<Schedule>(number);
  } else {
    shape.schedule = Schedule::automatic;
    shape.chunk = 0;
  }
}

void begin_loop(TeamThread& thread,
                const LoopShape& shape,
                const LoopExtras& extras,
                const std::function<void(WorkShare&)>& prepare) {
  if (extras.reductions != nullptr) {
    begin_taskgroup(thread);
    thread.task->taskgroup->is_of_construct = true;
  }
  WorkShares& shares = thread.team->shares;
  bool is_first = false;
  WorkShare& share = shares.enter(thread, is_first);
  if (is_first) {
    if (has_tool()) [[unlikely]]
      share.tool_work = work_of(thread.tool_work, shape.schedule);
    share.loop = shape;
    if (shape.schedule == Schedule::dynamic || shape.schedule == Schedule::guided) {
      const std::uint64_t least = std::max<std::uint64_t>(shape.chunk, 1);
      share.loop.chunk = std::min(least, std::max<std::uint64_t>(shape.trip_count, 1));
    }
    // Relaxed: (P) publishes them.
    share.next.store(0, std::memory_order_relaxed);
    if (shape.is_ordered) share.ordered_next.store(0, std::memory_order_relaxed);
    if (extras.reductions != nullptr) {
      register_reductions(extras.reductions, nullptr, thread.team->size);
      share.reductions = extras.reductions;
    }
    if (extras.memory != nullptr)
      share.memory = zeroed(reinterpret_cast<std::uintptr_t>(*extras.memory));
    if (prepare) prepare(share);
    plan_batches(thread, share);
    shares.publish(thread, share);
  } else if (extras.reductions != nullptr) {
    register_reductions(extras.reductions, share.reductions, thread.team->size);
  }
  if (extras.reductions != nullptr) add_reductions(thread, extras.reductions);
  if (extras.memory != nullptr) *extras.memory = share.memory;
  if (has_tool()) [[unlikely]] {
    thread.tool_work = ompt::Work::loop;
    tell_work(thread, share.tool_work, ompt::Endpoint::begin, shape.trip_count);
  }
}

bool next_batch(TeamThread& thread, WorkShare& share, std::uint64_t& chunk) {
  MemberState& member_state = *thread.member_state;
  const std::uint64_t count = share.chunk_count;
  BatchTuner& batch_tuner = batch_tuner_of(thread, share);
  // All relaxed: chunks carry no data; (P) published the loop. A thread that has seen the counter
  // exhausted leaves its line to others; before its first load it has the line already, by (P).
  if (member_state.chunks_begun == 0)
    member_state.chunks_begun = share.next.load(std::memory_order_relaxed);
  if (member_state.chunks_begun < count) {
    const std::uint64_t size =
        batch_tuner.next(count - member_state.chunks_begun, thread.team->size, arch::cycles);
    const std::uint64_t begin = share.next.fetch_add(size, std::memory_order_relaxed);
    member_state.chunks_begun = begin + size;
    perturb(thread.number, PerturbedPoint::take);
    if (begin < count) {
      chunk = begin_batch(thread, share, {begin, std::min(begin + size, count)});
      return true;
    }
  }
  perturb(thread.number, PerturbedPoint::borrow);
  const ChunkRange stolen = steal_chunks(thread, share);
  if (stolen.empty()) return false;
  chunk = begin_batch(thread, share, stolen);
  return true;
}

bool next_chunk(TeamThread& thread, Chunk& chunk) {
  WorkShare& share = *thread.share;
  const LoopShape& loop = share.loop;
  SORREL_ASSERT(share.chunk_count == 0);
  if (loop.is_ordered) pass_turn(thread);
  const std::uint32_t size = thread.team->size;
  bool is_some = false;
  switch (loop.schedule) {
    case Schedule::fixed:
    case Schedule::automatic:
      chunk = fixed_chunk(loop.trip_count, loop.chunk, thread.chunk_index++, thread.number, size);
      is_some = !chunk.empty();
      break;
    case Schedule::dynamic:
      is_some = take_dynamic(share, chunk);
      break;
    case Schedule::guided:
      is_some = take_guided(share, size, chunk);
      break;
  }
  if (is_some && loop.is_ordered) {
    thread.chunk_begin = chunk.begin;
    thread.chunk_end = chunk.end;
    thread.holds_chunk = true;
  }
  return is_some;
}

void wait_for_turn(TeamThread& thread) {
  if (!thread.holds_chunk) return;
  WorkShare& share = *thread.share;
  Turn turn{.share = &share, .begin = thread.chunk_begin};
  const Condition condition{.holds_of = Turn::has_come, .argument = &turn};
  if (!condition.holds()) wait_until(thread, share.waiters, condition);
}

void begin_ordered(TeamThread& thread) {
  if (!has_tool()) [[likely]]
    return wait_for_turn(thread);
  tell_acquire(thread, ompt::Mutex::ordered, thread.share);
  wait_for_turn(thread);
  tell_acquired(thread, ompt::Mutex::ordered, thread.share);
}

void end_ordered(TeamThread& thread) {
  if (has_tool()) [[unlikely]]
    tell_released(thread, ompt::Mutex::ordered, thread.share);
}

void tell_chunk(const TeamThread& thread, const Chunk& chunk) {
  const WorkShare& share = *thread.share;
  tell_dispatch(thread, share.tool_work,
                {.start = share.loop.start + chunk.begin * share.loop.step,
                 .iterations = chunk.end - chunk.begin});
}

void end_loop(TeamThread& thread) {
  if (has_tool()) [[unlikely]]
    tell_work(thread, thread.share->tool_work, ompt::Endpoint::end, thread.share->loop.trip_count);
  // Chunks are left over if the loop was cancelled.
  if (thread.share->chunk_count != 0 && !thread.member_state->batch.is_empty())
    thread.member_state->batch.forget();
  SORREL_ASSERT(thread.member_state->batch.is_empty());
  thread.team->shares.leave(thread, thread.team->size);
}

Bounds bounds_of(const LoopShape& loop, const Chunk& chunk) {
  // After the last iteration, only the program's own end value cannot overflow.
  return {loop.start + chunk.begin * loop.step,
          chunk.end == loop.trip_count ? loop.end : loop.start + chunk.end * loop.step};
}

}  // namespace sorrel::omp
