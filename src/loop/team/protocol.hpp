//! The two sides of a loop, for any kind of thread: the caller's and the helper's.
//!
//! A Host defines how its threads wait and wake: ThreadTeam (OS threads, in a plain program),
//! FiberTeam (fibers on the workers of a job). A loop whose helpers are awake uses no lock, no
//! allocation and no clock. With helpers asleep, the caller first measures some iterations by the
//! cycle counter, unless the last loop with this body has shown what they take. It wakes helpers
//! only for a loop that is longer than the cost of a wake-up.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/cpu.hpp"
#include "core/thread_pool.hpp"
#include "loop/team/loop_table.hpp"

namespace sorrel::loop {

/// Runs a loop alone, in the order of its iterations, chunk by chunk.
inline int run_alone(const Work& work, std::int32_t from_chunk = 0) {
  for (std::int32_t i = from_chunk; i < work.plan.count(); ++i) {
    const Iterations chunk = work.plan.chunk(i);
    if (const int outcome = work.body(work.argument, chunk.begin, chunk.end); outcome != go_on)
      return outcome;
  }
  return go_on;
}

/// Runs the first chunk in growing parts, to find whether a loop is long enough to wake a helper.
class Probe {
 public:
  Probe(const Work& work, std::uint64_t wake_cost_cycles)
      : work_(work), wake_cost_cycles_(wake_cost_cycles) {
    const ChunkPlan& plan = work.plan;
    total_ = plan.chunk(plan.count() - 1).end - plan.chunk(0).begin;
    rest_ = plan.chunk(0);
  }

  /// Runs as much of chunk 0 as needed for the decision.
  int run() {
    const std::int64_t first = rest_.begin;
    std::int64_t size = work_.plan.may_be_cut() ? work_.plan.part_size() : rest_.count();
    began_ = arch::cycles();
    while (rest_.count() > 0) {
      const std::int64_t end = std::min(rest_.begin + std::min(size, rest_.count()), rest_.end);
      if (const int outcome = work_.body(work_.argument, rest_.begin, end); outcome != go_on)
        return outcome;
      rest_.begin = end;
      const std::uint64_t spent = cycles();
      const std::int64_t done = end - first;
      const double remaining = static_cast<double>(spent) * static_cast<double>(total_ - done) /
                               static_cast<double>(done);
      if (remaining > static_cast<double>(wake_cost_cycles_) && spent > certain_cycles) {
        should_wake_ = true;
        break;
      }
      size *= 2;
    }
    return go_on;
  }

  [[nodiscard]] bool should_wake() const { return should_wake_; }

  /// Since run() began.
  [[nodiscard]] std::uint64_t cycles() const { return arch::cycles() - began_; }

  /// Runs the rest of chunk 0.
  int finish() const {
    if (rest_.count() == 0) return go_on;
    return work_.body(work_.argument, rest_.begin, rest_.end);
  }

 private:
  /// A shorter time is no basis for an estimate.
  static constexpr std::uint64_t certain_cycles = 1000;

  const Work& work_;
  const std::uint64_t wake_cost_cycles_;
  std::uint64_t began_ = 0;
  std::int64_t total_ = 0;
  Iterations rest_;
  bool should_wake_ = false;
};

/// The caller's first chunk. It measures the duration of iterations if the plan has a choice of
/// chunks, or nothing is known of the body.
template <class Host>
int run_first(Host& host, const Work& work) {
  const Iterations first = work.plan.chunk(0);
  const bool has_choice = work.plan.may_be_cut() && work.plan.count() > 2;
  const bool is_known = host.grain_tuner().cycles_each(work.body) != 0;
  if (!has_choice && is_known) return work.body(work.argument, first.begin, first.end);
  const std::uint64_t began = arch::cycles();
  const int outcome = work.body(work.argument, first.begin, first.end);
  const std::uint64_t spent = arch::cycles() - began;
  if (has_choice) host.grain_tuner().record(work.body, first.count(), spent);
  if (!is_known) host.grain_tuner().record_cost(work.body, first.count(), spent);
  return outcome;
}

/// The caller's chunks after the first, and the end. May suspend.
template <class Host>
int finish_loop(Host& host, OpenLoop& loop, const Work& work, int outcome) {
  if (outcome != go_on) loop.set_outcome(outcome);
  for (std::int32_t mine = 1;; ++mine) {
    const auto before = loop.take_as_caller();
    const std::int32_t left = before.left();
    if (left <= 0) {
      if (before.inside() != 0) host.wait_for_end(loop);
      break;
    }
    const Iterations chunk = work.plan.chunk(mine);
    const int result = work.body(work.argument, chunk.begin, chunk.end);
    if (result != go_on) [[unlikely]]
      loop.set_outcome(result);
    // No helper was inside when the last chunk was taken, and without a chunk none can join.
    if (left == 1 && before.inside() == 0) break;
  }
  const int final_outcome = loop.take_outcome();
  LoopTable::release(loop);
  return final_outcome;
}

/// Whether the iterations behind the first chunk take longer than to wake a helper, as far as the
/// last such loop with this body says.
template <class Host>
bool is_known_to_be_long(Host& host, const Work& work) {
  const std::uint64_t cycles_each = host.grain_tuner().cycles_each(work.body);
  if (cycles_each == 0) return false;
  const ChunkPlan& plan = work.plan;
  const std::int64_t rest = plan.chunk(plan.count() - 1).end - plan.chunk(0).end;
  return static_cast<double>(rest) * static_cast<double>(cycles_each) >
         static_cast<double>(host.wake_cost_cycles());
}

/// The caller's first chunk of a loop whose helpers sleep.
template <class Host>
int run_measured(Host& host, const Work& work) {
  const Iterations first = work.plan.chunk(0);
  const std::uint64_t began = arch::cycles();
  const int outcome = work.body(work.argument, first.begin, first.end);
  host.grain_tuner().record_cost(work.body, first.count(), arch::cycles() - began);
  return outcome;
}

/// As run_loop(), when some of the possible helpers sleep.
template <class Host>
int run_loop_with_sleepers(Host& host, const Work& work, std::uint32_t helper_count_max) {
  const bool is_long = is_known_to_be_long(host, work);
  // If no helper searches either, there is nothing to publish before a helper is woken.
  const bool opens_now = work.is_shared_only || is_long || host.has_searchers();
  OpenLoop* loop = opens_now ? host.open(work, helper_count_max) : nullptr;
  if (loop == nullptr && work.is_shared_only) return not_shared;
  if (loop != nullptr && is_long) {
    host.wake_helper();
    return finish_loop(host, *loop, work, run_measured(host, work));
  }
  Probe probe(work, host.wake_cost_cycles());
  int outcome = probe.run();
  if (outcome == go_on && probe.should_wake()) {
    if (loop == nullptr) loop = host.open(work, helper_count_max);
    if (loop != nullptr) host.wake_helper();
  }
  if (outcome == go_on) outcome = probe.finish();
  host.grain_tuner().record_cost(work.body, work.plan.chunk(0).count(), probe.cycles());
  if (loop != nullptr) return finish_loop(host, *loop, work, outcome);
  if (outcome == go_on) outcome = run_alone(work, 1);
  host.record_alone(probe.cycles());
  return outcome;
}

/// Runs `work` with at most `helper_count_max` helpers. May suspend.
template <class Host>
int run_loop(Host& host, const Work& work, std::uint32_t helper_count_max) {
  const auto run_unshared = [&work] { return work.is_shared_only ? not_shared : run_alone(work); };
  if (work.plan.count() <= 1 || helper_count_max == 0) return run_unshared();
  if (host.has_sleepers(helper_count_max))
    return run_loop_with_sleepers(host, work, helper_count_max);
  OpenLoop* loop = host.open(work, helper_count_max);
  if (loop == nullptr) return run_unshared();
  return finish_loop(host, *loop, work, run_first(host, work));
}

/// A helper joins `loop` if possible, and runs chunks until none is left or the host needs its
/// thread. Returns whether it did anything. May suspend.
template <class Host>
bool help(Host& host, OpenLoop& loop) {
  auto before = loop.join();
  if (!before.is_joinable()) return false;
  const Work& work = loop.work();
  // Helpers wake each other in a tree, so no caller wakes many.
  const std::int64_t useful = std::min<std::int64_t>(before.left(), before.room()) - 1;
  for (std::int64_t i = 0; i < std::min(useful, std::int64_t{core::wake_fan_out}); ++i) {
    if (!host.has_sleepers(before.room() - 1)) break;
    host.wake_helper();
  }
  for (; before.left() > 0; before = loop.take_as_helper()) {
    const Iterations chunk = work.plan.chunk(loop.chunk_of_helper(before));
    const int result = work.body(work.argument, chunk.begin, chunk.end);
    if (result != go_on) [[unlikely]]
      loop.set_outcome(result);
    if (before.left() == 1 || host.needs_thread()) break;
  }
  if (loop.leave()) host.wake_caller(loop);
  return true;
}

}  // namespace sorrel::loop
