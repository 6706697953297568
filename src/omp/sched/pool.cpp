#include "omp/sched/pool.hpp"

#include <algorithm>

#include "arch/cpu.hpp"
#include "arch/long_pause.hpp"
#include "base/check.hpp"
#include "core/process_instance.hpp"
#include "omp/icv/binding.hpp"
#include "omp/icv/environment.hpp"
#include "omp/kernel/perturb.hpp"
#include "omp/sched/own_thread.hpp"
#include "omp/sched/preempt.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/kept_errno.hpp"
#include "os/thread.hpp"

namespace sorrel::omp {

namespace {

using ProcessPool = core::ProcessInstance<HelperPool>;

// Rounds between two readings of the clock by a helper that searches for work.
constexpr int rounds_per_reading = 16;
// Unsuccessful searches before a helper takes a thread that is meant for another helper.
constexpr int grace_rounds = 8;

}  // namespace

HelperPool& pool() {
  return ProcessPool::get([] {
    const os::KeptErrno kept_errno;
    // It asks for the processors that the caller may use.
    const Unbound unbound;
    return new HelperPool(environment().loop_settings);
  });
}

void end_pool() {
  HelperPool* const ended = ProcessPool::retire();
  if (ended != nullptr) ended->end();
}

HelperPool* pool_if_made() {
  return ProcessPool::get_if_made();
}

void HelperPool::on_fork() {
  own_thread = nullptr;
}

HelperPool::HelperPool(const governor::Settings& settings)
    : width_max_(std::min(settings.limits.width_max, helper_count_max + 1)),
      monitor_(settings, controls_) {
  monitor_.set_on_tick([this] { return on_tick(); });
}

void HelperPool::end() {
  // Seq_cst: a helper that is about to park reads it after it has announced its sleep.
  is_ending_.store(true, std::memory_order_seq_cst);
  while (helpers_.has_parked() && wake_parked(~0U, false)) {
  }
  monitor_.stop();
  monitor_.deregister();
  const std::uint32_t count = helpers_.started_count();
  for (;;) {
    const std::uint32_t ended = ended_count_.load(std::memory_order_acquire);
    if (ended == count) break;
    os::futex_wait(ended_count_, ended, -1);
  }
  for (std::uint32_t number = 1; number <= count; ++number)
    os::wait_for_thread_end(helpers_.at(number).worker.native_number());
}

void HelperPool::add(Group& group) {
  SORREL_ASSERT(group.pool != this);
  group.pool = this;
  group.is_in_pool = false;
  for (std::uint32_t i = 0; i < group_count_max; ++i) {
    group.index = i;
    Group* expected = nullptr;
    // Release: the group is complete. A group beyond the last slot has no helpers.
    if (!groups_[i].compare_exchange_strong(expected, &group, std::memory_order_release,
                                            std::memory_order_relaxed))
      continue;
    group.is_in_pool = true;
    std::uint32_t limit = group_limit_.load(std::memory_order_relaxed);
    while (limit <= i && !group_limit_.compare_exchange_weak(
                             limit, i + 1, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return;
  }
}

void HelperPool::remove(Group& group) {
  if (group.pool != this || !group.is_in_pool) return;
  SORREL_ASSERT(groups_[group.index].load(std::memory_order_relaxed) == &group);
  group.is_in_pool = false;
  // Relaxed: groups stay in memory, and this one has no work.
  groups_[group.index].store(nullptr, std::memory_order_relaxed);
}

void HelperPool::request_helpers(const Group& group, std::uint32_t count) {
  const std::uint32_t wanted = std::min(count + 1, width()) - 1;
  const std::uint32_t started = helpers_.started_count();
  if (started >= wanted && !helpers_.has_parked()) [[likely]]
    return;
  for (std::uint32_t i = 1; i <= wanted; ++i) {
    // One at a time: a helper that finds more work wakes the next.
    Helper& helper = helpers_.at(helper_of(group, i));
    if (helpers_.wake(helper, [](Helper& woken) { woken.prepare(false); })) return;
  }
  if (started < wanted) (void)start_helper(false);
}

void HelperPool::request_helper(const Group& group) {
  const std::uint32_t limit = width();
  if (limit < 2 || !group.is_in_pool) return;
  if (helpers_.has_parked() && wake_parked(limit, false)) return;
  if (helpers_.started_count() + 1 < limit) (void)start_helper(false);
}

bool HelperPool::free_native_threads() {
  if (keeps_native_threads_free()) [[likely]]
    return true;
  // Another thread may be starting the first one.
  constexpr int attempt_count_max = 1000;
  for (int i = 0; helpers_.started_count() == 0; ++i) {
    if (start_helper(true)) break;
    if (i == attempt_count_max) return false;
    os::yield_core();
  }
  // Relaxed: numbers by themselves.
  constexpr std::uint32_t floor = 2;
  width_floor_.store(floor, std::memory_order_relaxed);
  if (width_min_.load(std::memory_order_relaxed) < floor)
    width_min_.store(floor, std::memory_order_relaxed);
  return true;
}

bool HelperPool::wake_parked(std::uint32_t limit, bool is_extra) {
  return helpers_.wake_first(is_extra ? ~0U : limit,
                             [is_extra](Helper& helper) { helper.prepare(is_extra); });
}

bool HelperPool::start_helper(bool is_extra) {
  const StayOnWorker stay;
  const os::KeptErrno kept_errno;
  const Unbound unbound;
  const std::uint32_t limit = is_extra ? ~0U : std::max(width_max_, width());
  return helpers_.start(limit, helper_main, [this, is_extra](Helper& helper) {
    helper.pool = this;
    helper.prepare(is_extra);
  });
}

/// Returns a thread that is ready, or null.
Thread* HelperPool::find_work(const Worker& worker, bool is_patient) {
  const std::uint32_t limit = group_limit_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < limit; ++i) {
    Group* group = groups_[i].load(std::memory_order_acquire);
    if (group == nullptr) continue;
    const std::uint32_t preferred = thread_of(*group, worker.index());
    // Relaxed: hints.
    if (group->ready_count.load(std::memory_order_relaxed) != 0) {
      if (Thread* thread = group->pop_ready()) return thread;
    }
    const std::uint64_t bits = group->unstarted.seems();
    if (bits != 0 &&
        (is_patient || (preferred < Group::bit_count && (bits >> preferred & 1) != 0))) {
      if (Thread* thread = group->take_unstarted(preferred)) return thread;
    }
    if (Thread* thread = group->take_docked_for_tasks(preferred - 1)) return thread;
  }
  return nullptr;
}

bool HelperPool::has_work() const {
  const std::uint32_t limit = group_limit_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < limit; ++i) {
    const Group* group = groups_[i].load(std::memory_order_acquire);
    if (group == nullptr) continue;
    if (group->has_work()) return true;
    const TaskFlag* flag = group->task_flag.load(std::memory_order_acquire);
    if (flag != nullptr && flag->is_up()) return true;
  }
  return false;
}

void HelperPool::park(Helper& self) {
  self.is_extra.store(false, std::memory_order_relaxed);
  const auto may_work = [&] {
    perturb(self.worker.index(), PerturbedPoint::park);
    return is_ending_.load(std::memory_order_seq_cst) ||
           (self.worker.index() < width() && has_work());
  };
  if (helpers_.park(self, may_work)) self.core_spread.leave_waker(self.worker.index());
}

void* HelperPool::helper_main(void* argument) {
  Helper& self = *static_cast<Helper*>(argument);
  self.worker.attach_thread(self.pool->helpers_.number_of(self));
  self.pool->run_helper(self);
  return nullptr;
}

namespace {

/// How long a helper has looked for work. The cycle counter is read every so many rounds.
struct Search {
  int round = 0;
  std::uint64_t began = 0;
  bool has_lasted_long = false;
  // Times: since it ran the last fiber; and the gap before that fiber.
  std::uint64_t idle_since = 0;
  std::uint64_t last_gap = 0;

  /// After a fiber, or a sleep.
  void restart() {
    round = 0;
    began = 0;
    has_lasted_long = false;
  }

  /// A fiber is found. The clock is not read while fibers follow each other at once.
  void end_gap() { last_gap = idle_since == 0 ? 0 : arch::cycles() - idle_since; }

  /// Ends a round; returns whether the counter is to be read.
  bool pause() {
    if (has_lasted_long) {
      arch::long_pause();
    } else {
      arch::pause();
    }
    return ++round % rounds_per_reading == 0;
  }

  /// Cycles since the first reading.
  std::uint64_t read_cycles() {
    const std::uint64_t now = arch::cycles();
    if (began == 0) began = now;
    if (idle_since == 0) idle_since = now;
    return now - began;
  }
};

}  // namespace

void HelperPool::run_helper(Helper& self) {
  HelperPool& pool = *this;
  pool.monitor_.add_thread();
  self.core_spread.leave_waker(self.worker.index());
  Search search;
  for (;;) {
    const bool is_granted =
        self.worker.index() < pool.width() || self.is_extra.load(std::memory_order_relaxed);
    Thread* thread =
        is_granted ? pool.find_work(self.worker, search.round >= grace_rounds) : nullptr;
    if (thread != nullptr) {
      Group& group = *thread->group;
      // Helpers wake each other in a tree.
      for (std::uint32_t i = 0; i < core::wake_fan_out; ++i) {
        if (!group.has_work() || !pool.has_more_helpers()) break;
        pool.request_helper(group);
      }
      search.end_gap();
      self.worker.run_on_helper(*thread);
      search.restart();
      search.idle_since = 0;
      continue;
    }
    if (!search.pause()) continue;
    const std::uint64_t waited_cycles = search.read_cycles();
    if (!search.has_lasted_long && waited_cycles > pool.spin_cycles()) {
      search.has_lasted_long = true;
      (void)self.worker.check_core();
    }
    if (is_granted && waited_cycles < pool.spin_cycles_after(search.last_gap) &&
        !self.worker.has_lost_core())
      continue;
    pool.park(self);
    if (is_ending_.load(std::memory_order_relaxed)) break;  // park() ordered it
    search.restart();
  }
  // Release, pairs with end(): the system's number of the thread.
  ended_count_.fetch_add(1, std::memory_order_release);
  os::futex_wake_one(ended_count_);
}

/// Detects threads that may wait unseen: threads that are ready and not taken, and fibers that keep
/// a native thread from its core. Returns whether help was needed.
bool HelperPool::check_progress(Group& group, GroupView& view) {
  constexpr std::uint32_t stalled_ticks_max = 4;
  // Relaxed: read occasionally.
  const GroupState now{.region_count = group.region_count.load(std::memory_order_relaxed),
                       .taken_count = group.taken_count.load(std::memory_order_relaxed),
                       .unstarted = group.unstarted.seems(),
                       .run_count = group.root.run_count(),
                       .rescue_count = group.rescue_count.load(std::memory_order_relaxed)};
  const bool was_rescued = now.rescue_count != view.state.rescue_count;
  const bool is_stalled = group.has_work() && now == view.state;
  const Thread* fiber = group.root.running();
  const bool is_fiber_stalled = fiber != nullptr && now.run_count == view.state.run_count;
  view.stalled_ticks = is_stalled ? view.stalled_ticks + 1 : 0;
  view.stalled_fiber_ticks = is_fiber_stalled ? view.stalled_fiber_ticks + 1 : 0;
  view.state = now;
  if (view.stalled_fiber_ticks > 1) {
    view.stalled_fiber_ticks = 0;
    preempt(group.root.native_number(), group.hooks.code_of(*fiber));
  }
  if (view.stalled_ticks < stalled_ticks_max) return was_rescued;
  if (!wake_parked(0, true)) (void)start_helper(true);
  return true;
}

/// In every tick: whether any group is inside a region, and whether one makes no progress.
governor::Monitor::Finding HelperPool::on_tick() {
  governor::Monitor::Finding finding;
  bool is_stuck = false;
  std::uint32_t member_count = 0;
  const std::uint32_t limit = group_limit_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < limit; ++i) {
    Group* group = groups_[i].load(std::memory_order_acquire);
    if (group == nullptr) continue;
    finding.is_used |= group->is_in_region.load(std::memory_order_relaxed);
    const bool had_to_help = check_progress(*group, views_[i]);
    finding.needs_early_tick |=
        had_to_help || views_[i].stalled_ticks != 0 || views_[i].stalled_fiber_ticks != 0;
    if (!had_to_help) continue;
    is_stuck = true;
    member_count = std::max(member_count, group->member_count.load(std::memory_order_relaxed));
  }
  record_stuck(is_stuck, member_count);
  return finding;
}

/// A program that is stuck again and again has threads that spin for each other. Its threads then
/// run as on the system's scheduler, until a period without such a case.
void HelperPool::record_stuck(bool is_stuck, std::uint32_t member_count) {
  constexpr std::int64_t memory_ns = 1'000'000'000;
  constexpr std::uint32_t stuck_count_max = 3;
  constexpr std::int64_t leave_ns = 5'000'000'000;
  const std::int64_t now_ns = os::monotonic_ns();
  if (is_stuck) {
    stuck_count_ = now_ns - last_stuck_ns_ > memory_ns ? 1 : stuck_count_ + 1;
    last_stuck_ns_ = now_ns;
    if (stuck_count_ >= stuck_count_max)
      width_min_.store(std::max(member_count, width_floor_.load(std::memory_order_relaxed)),
                       std::memory_order_relaxed);  // a number by itself
  } else if (now_ns - last_stuck_ns_ > leave_ns) {
    width_min_.store(width_floor_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
}

}  // namespace sorrel::omp
