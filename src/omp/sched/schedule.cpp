#include "omp/sched/schedule.hpp"

#include "arch/cpu.hpp"
#include "base/check.hpp"
#include "omp/sched/group.hpp"
#include "omp/sched/pool.hpp"
#include "os/thread.hpp"

namespace sorrel::omp {

namespace {

/// Rounds that a waiter grants the helper for which a thread is meant. A helper that has not come
/// by now is late for a part as short as the waiter's own.
constexpr int grace_rounds = 1;
/// Rounds between two readings of the clock.
constexpr int rounds_per_reading = 16;

void yield_worker(const Group& group) {
  if (group.job != nullptr) {
    group.job->yield();
  } else {
    os::yield_core();
  }
}

/// Limits the duration of a spin.
class SpinLimit {
 public:
  explicit SpinLimit(std::uint64_t cycles_max) : cycles_max_(cycles_max) {}

  /// After an unsuccessful poll: whether to poll again.
  bool wait() {
    arch::pause();
    if (++round_ % rounds_per_reading != 0) return true;
    const std::uint64_t now = arch::cycles();
    if (began_ == 0) began_ = now;
    return now - began_ < cycles_max_;
  }

  void restart() {
    round_ = 0;
    began_ = 0;
  }

  /// Approximate duration of the unsuccessful wait, in cycles.
  [[nodiscard]] std::uint64_t waited() const { return began_ == 0 ? 0 : arch::cycles() - began_; }

  [[nodiscard]] bool is_past_grace() const { return round_ >= grace_rounds; }

 private:
  std::uint64_t cycles_max_;
  std::uint64_t began_ = 0;
  int round_ = 0;
};

/// A fiber for a native thread to run while it waits, or null.
Thread* find_fiber(Group& group, const SpinLimit& spin_limit) {
  // No other thread can run these.
  if (Thread* fiber = group.pop_for_main_thread()) return fiber;
  // Where threads spin for each other in the program, this thread must stay free.
  if (group.job == nullptr && pool().has_helper_per_fiber()) return nullptr;
  // Relaxed: hints.
  if (group.ready_count.load(std::memory_order_relaxed) != 0) {
    if (Thread* fiber = group.pop_ready()) return fiber;
  }
  if (group.unstarted.seems() != 0 &&
      (spin_limit.is_past_grace() || group.job != nullptr || pool().width() == 1))
    return group.take_unstarted(1);
  return nullptr;
}

void wait_native(Thread& thread, WaitList& list, const Condition& condition) {
  Group& group = *thread.group;
  Worker& worker = group.root;
  HelperPool* const pool = pool_if_made();
  SpinLimit spin_limit(pool == nullptr ? 0 : pool->spin_cycles_after(group.last_wait));
  bool was_added = false;
  while (!condition.holds()) {
    if (Thread* fiber = find_fiber(group, spin_limit)) {
      group.was_preempted = false;
      worker.run(*fiber);
      spin_limit.restart();
      continue;
    }
    if (group.job != nullptr) {
      // The awaited thread runs on this worker, or another rank is to send it a message.
      group.job->yield();
      continue;
    }
    if (spin_limit.wait()) continue;
    group.root_sleeper.prepare();
    was_added = true;
    const bool is_added = list.add_unless(thread, condition);
    if (is_added && !group.has_work() && !group.has_work_for_main_thread()) {
      core::sleep(group.root_sleeper);
    } else {
      (void)group.root_sleeper.cancel();
    }
    if (!is_added) break;
  }
  if (was_added) list.remove(thread);
  group.last_wait = spin_limit.waited();
  if (!group.was_preempted) return;
  // The fiber was waiting for this thread, in a loop of the program.
  group.was_preempted = false;
  // Relaxed: only this thread writes the count.
  group.rescue_count.store(group.rescue_count.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
}

/// Polls for a while without giving up the worker; returns whether the condition held.
bool spin_for(Thread& thread, const Condition& condition) {
  // The native thread may need its own core.
  if (thread.worker->index() == 0) return condition.holds();
  SpinLimit spin_limit(pool().spin_cycles());
  const Group& group = *thread.group;
  do {
    if (condition.holds()) return true;
    // Relaxed: hints that another fiber needs this worker.
    if (spin_limit.is_past_grace() &&
        (group.ready_count.load(std::memory_order_relaxed) != 0 || group.unstarted.seems() != 0))
      return false;
    // The governor no longer grants this helper.
    if (thread.worker->index() >= pool().width()) return false;
  } while (spin_limit.wait());
  return false;
}

void wait_in_fiber(Thread& thread, WaitList& list, const Condition& condition) {
  while (!spin_for(thread, condition)) {
    thread.is_satisfied = false;
    thread.wait_list = &list;
    thread.condition = condition;
    Worker::switch_to_root(thread, SuspendAction::suspend);
    if (thread.is_satisfied) return;
  }
}

/// Makes a waiting thread ready, which checks its condition again. Any thread.
void make_ready(Thread& thread) {
  if (thread.is_native()) {
    (void)thread.group->wake_root();
    return;
  }
  Group& group = *thread.group;
  group.push_ready(thread);
  // Wakes the native thread of the group, which may sleep while it waits for this fiber.
  if (!group.wake_root() && group.is_in_pool) pool().request_helper(group);
}

}  // namespace

void make_waiters_ready(WaitList& list, const void* key, bool only_one) {
  Thread* woken = list.take(key, only_one, make_ready);
  while (woken != nullptr) {
    Thread* next = woken->next_woken;
    make_ready(*woken);
    woken = next;
  }
}

void wait_until(Thread& thread, WaitList& list, const Condition& condition) {
  SORREL_ASSERT(own_thread == &thread);
  if (thread.is_native()) {
    wait_native(thread, list, condition);
  } else {
    wait_in_fiber(thread, list, condition);
  }
}

bool may_others_run(const Thread& thread) {
  const Group& group = *thread.group;
  return group.has_work() || (thread.worker->index() == 0 && group.has_work_for_main_thread());
}

void yield(Thread& thread) {
  if (!thread.is_native()) {
    if (may_others_run(thread)) {
      Worker::switch_to_root(thread, SuspendAction::queue);
    } else {
      yield_worker(*thread.group);
    }
    return;
  }
  Thread* fiber = thread.group->pop_for_main_thread();
  if (fiber == nullptr) fiber = thread.group->pop_ready();
  if (fiber == nullptr) fiber = thread.group->take_unstarted(1);
  if (fiber != nullptr) {
    thread.group->root.run(*fiber);
  } else {
    yield_worker(*thread.group);
  }
}

bool run_on_main_thread() {
  Thread* const thread = own_thread;
  if (thread == nullptr || thread->is_native()) return false;
  Group& group = *thread->group;
  const loop::JobThreads* job = sorrel_job_threads_2 == nullptr ? nullptr : sorrel_job_threads_2();
  if (job == nullptr || !job->is_main_thread(group.root.root_thread_pointer())) return false;
  if (thread->worker != &group.root) Worker::switch_to_root(*thread, SuspendAction::to_main_thread);
  SORREL_ASSERT(thread->worker == &group.root);
  group.main_thread = job;
  job->enter_main_thread();
  thread->is_on_main_thread = true;
  // While the rank waits, its scheduler may run fibers with control blocks of their own.
  std::uintptr_t* address = job->thread_pointer_address();
  *address = thread->thread_pointer;
  group.root.set_thread_pointer_address(address);
  return true;
}

}  // namespace sorrel::omp
