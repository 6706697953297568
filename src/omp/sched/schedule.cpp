#include "omp/sched/schedule.hpp"

#include <cstdint>
#include <utility>

#include "arch/cpu.hpp"
#include "arch/long_pause.hpp"
#include "base/check.hpp"
#include "omp/kernel/perturb.hpp"
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
  /// `worker`: of the calling thread. `brief`: for a longer spin the worker must have its core.
  SpinLimit(Worker& worker, std::uint64_t cycles_max, std::uint64_t brief)
      : worker_(worker), cycles_max_(cycles_max), brief_(brief) {}

  /// After an unsuccessful poll: whether to poll again.
  bool wait() {
    if (has_lasted_long_) {
      arch::long_pause();
    } else {
      arch::pause();
    }
    if (++round_ % rounds_per_reading != 0) return true;
    const std::uint64_t now = arch::cycles();
    if (began_ == 0) began_ = now;
    if (now - began_ >= cycles_max_ || worker_.has_lost_core()) return false;
    if (now - began_ < brief_ || std::exchange(has_lasted_long_, true)) return true;
    return !worker_.check_core();
  }

  void restart() {
    round_ = 0;
    began_ = 0;
    has_lasted_long_ = false;
  }

  /// Approximate duration of the unsuccessful wait, in cycles.
  [[nodiscard]] std::uint64_t waited() const { return began_ == 0 ? 0 : arch::cycles() - began_; }

  [[nodiscard]] bool is_past_grace() const { return round_ >= grace_rounds; }

 private:
  Worker& worker_;
  const std::uint64_t cycles_max_;
  const std::uint64_t brief_;
  std::uint64_t began_ = 0;
  int round_ = 0;
  bool has_lasted_long_ = false;
};

/// A fiber for a native thread to run while it waits, or null.
Thread* find_fiber(Group& group, const SpinLimit& spin_limit) {
  // No other thread can run these.
  if (Thread* fiber = group.pop_for_main_thread()) return fiber;
  // Where threads spin for each other in the program, this thread must stay free.
  if (group.is_in_pool && pool().are_native_threads_free()) return nullptr;
  // Relaxed: hints.
  if (group.ready_count.load(std::memory_order_relaxed) != 0) {
    if (Thread* fiber = group.pop_ready()) return fiber;
  }
  if (group.unstarted.seems() != 0 &&
      (spin_limit.is_past_grace() || group.job != nullptr || pool().width() == 1))
    return group.take_unstarted(1);
  return nullptr;
}

/// On the native thread: runs the fiber until it waits.
void run_on_native_thread(Group& group, Thread& fiber) {
  group.root.run(fiber);
  // It may have left for a helper, and lies in the queue.
  if (group.is_in_pool && pool().keeps_native_threads_free() && group.has_work()) [[unlikely]]
    pool().request_helper(group);
}

void wait_native(Thread& thread, WaitList& list, const Condition& condition) {
  Group& group = *thread.group;
  Worker& worker = group.root;
  HelperPool* const pool = pool_if_made();
  const std::uint64_t brief = pool == nullptr ? 0 : pool->spin_cycles();
  SpinLimit spin_limit(worker, pool == nullptr ? 0 : pool->spin_cycles_after(group.last_wait),
                       brief);
  bool was_added = false;
  while (!condition.holds()) {
    if (Thread* fiber = find_fiber(group, spin_limit)) {
      group.was_preempted = false;
      run_on_native_thread(group, *fiber);
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
    perturb(worker.index(), PerturbedPoint::park);
    const bool is_added = list.add_unless(thread, condition);
    // Only helpers take fibers where some have kernel threads of their own.
    const bool may_take = !group.is_in_pool || !pool->keeps_native_threads_free();
    if (is_added && !(may_take && group.has_work()) && !group.has_work_for_main_thread()) {
      core::sleep(group.root_sleeper);
    } else {
      (void)group.root_sleeper.cancel();
    }
    if (!is_added) break;
  }
  if (was_added) (void)list.take_thread(thread);
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
  if (perturbs_choice(thread.worker->index())) return condition.holds();
  const std::uint64_t brief = pool().spin_cycles();
  SpinLimit spin_limit(*thread.worker, brief, brief);
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
    thread.wait_list.store(&list, std::memory_order_relaxed);
    thread.condition = condition;
    Worker::switch_to_root(thread, SuspendAction::suspend);
    if (thread.is_satisfied) return;
  }
}

void wake_native(Thread& thread) {
  (void)thread.group->wake_root();
}

}  // namespace

void make_waiters_ready(WaitList& list, const void* key, bool only_one) {
  Thread* woken = list.take(key, only_one, wake_native);
  const Group* requested_for = nullptr;
  std::uint32_t request_count = 0;
  while (woken != nullptr) {
    Thread* next = woken->next_woken;
    Group& group = *woken->group;
    group.push_ready(*woken);
    perturb(group.index, PerturbedPoint::wake);
    woken = next;
    // Wakes the native thread of the group, which may sleep while it waits for this fiber.
    const bool is_root_awake = group.wake_root();
    if (!group.is_in_pool || (is_root_awake && !pool().keeps_native_threads_free())) continue;
    if (&group != std::exchange(requested_for, &group)) request_count = 0;
    // Helpers that find more ready threads wake further helpers.
    if (request_count++ < core::wake_fan_out) pool().request_helper(group);
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

bool wake_for_nothing(Thread& fiber) {
  WaitList* const list = fiber.wait_list.load(std::memory_order_relaxed);
  if (list == nullptr || !list->take_thread(fiber)) return false;
  Group& group = *fiber.group;
  group.push_ready(fiber);
  (void)group.wake_root();
  pool().request_helper(group);
  return true;
}

bool may_others_run(const Thread& thread) {
  const Group& group = *thread.group;
  if (group.has_work()) return true;
  // A fiber holds the native thread below it, for which it may be waiting.
  return thread.worker->index() == 0 && (!thread.is_native() || group.has_work_for_main_thread());
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
  if (!thread.group->is_in_pool || !pool().are_native_threads_free()) {
    if (fiber == nullptr) fiber = thread.group->pop_ready();
    if (fiber == nullptr) fiber = thread.group->take_unstarted(1);
  }
  if (fiber != nullptr) {
    run_on_native_thread(*thread.group, *fiber);
  } else {
    yield_worker(*thread.group);
  }
}

bool run_on_main_thread() {
  Thread* const thread = own_thread;
  if (thread == nullptr || thread->is_native()) return false;
  Group& group = *thread->group;
  const loop::JobThreads* job = sorrel_job_threads_3 == nullptr ? nullptr : sorrel_job_threads_3();
  if (job == nullptr || !job->is_main_thread(group.root.root_thread_pointer())) return false;
  if (thread->worker != &group.root) Worker::switch_to_root(*thread, SuspendAction::to_main_thread);
  SORREL_ASSERT(thread->worker == &group.root);
  group.main_thread = job;
  job->enter_main_thread();
  thread->set(on_main_thread);
  // While the rank waits, its scheduler may run fibers with control blocks of their own.
  std::uintptr_t* address = job->thread_pointer_address();
  *address = thread->thread_pointer;
  group.root.set_thread_pointer_address(address);
  return true;
}

}  // namespace sorrel::omp
