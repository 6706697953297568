#include "omp/sched/own_thread_claim.hpp"

#include "arch/cpu.hpp"
#include "omp/sched/group.hpp"
#include "omp/sched/own_thread.hpp"
#include "omp/sched/pool.hpp"
#include "omp/sched/schedule.hpp"
#include "os/clock.hpp"

namespace sorrel::omp {

bool may_own_threads(const Thread& thread) {
  return thread.group->job == nullptr && sorrel_job_threads_3 == nullptr;
}

void claim_own_thread() {
  Thread* const fiber = own_thread;
  if (fiber == nullptr || fiber->is_native() || fiber->is(on_own_thread) ||
      fiber->stays_on_worker || !may_own_threads(*fiber) || !pool().free_native_threads())
    return;
  Worker::switch_to_root(*fiber, SuspendAction::to_own_thread);
}

void leave_native_thread() {
  Thread* const fiber = own_thread;
  if (fiber == nullptr || fiber->is_native() ||
      fiber->placement.load(std::memory_order_relaxed) != on_any_worker ||
      fiber->worker->index() != 0 || fiber->stays_on_worker || !fiber->group->is_in_pool ||
      !may_own_threads(*fiber) || !pool().free_native_threads())
    return;
  Worker::switch_to_root(*fiber, SuspendAction::queue);
}

bool yield_in_program() {
  Thread* const fiber = own_thread;
  if (fiber == nullptr || fiber->is_native() || fiber->stays_on_worker || !may_own_threads(*fiber))
    return false;
  leave_native_thread();
  yield(*fiber);
  return true;
}

void request_own_thread(Thread& fiber) {
  if (fiber.is_native() || !may_own_threads(fiber) || !pool().free_native_threads()) return;
  if (&fiber == own_thread) return claim_own_thread();
  constexpr int attempt_count_max = 20;
  constexpr std::int64_t nap_ns = 50'000;
  for (int i = 0; i < attempt_count_max && !fiber.is(on_own_thread); ++i) {
    fiber.set(is_own_requested);
    switch (fiber.dock.seems()) {
      case RunState::docked:
        if (!fiber.dock.try_take_docked()) break;
        if (fiber.is(on_own_thread)) {
          fiber.dock.give_up(RunState::docked);
        } else {
          fiber.resume_action = ResumeAction::none;
          begin_on_own_thread(fiber, nullptr);
        }
        return;
      case RunState::suspended:
        (void)wake_for_nothing(fiber);
        break;
      case RunState::running:
        // In the program, perhaps for long.
        if (i > 1) return;
        break;
    }
    os::sleep_ns(nap_ns);
  }
}

bool take_next_start(Thread& fiber, std::uint32_t number) {
  OwnThread& own = *fiber.own;
  StartBits& unstarted = fiber.group->unstarted;
  const std::uint64_t cycles_max = pool().spin_cycles();
  if (number >= StartBits::count || cycles_max == 0) return false;
  const std::uint64_t began = arch::cycles();
  // Relaxed: a helper has taken the fiber; wait_on_own_thread() reads it again.
  while (own.call.load(std::memory_order_relaxed) == OwnThread::none) {
    if ((unstarted.seems() >> number & 1) != 0 && unstarted.take_only(number)) {
      for (Pause pause; !fiber.dock.try_take_docked(); pause.wait()) {
        if (own.call.load(std::memory_order_relaxed) == OwnThread::none) continue;
        own.has_start = true;
        return false;
      }
      return true;
    }
    if (arch::cycles() - began > cycles_max || own.worker.has_lost_core()) return false;
    arch::pause();
  }
  return false;
}

}  // namespace sorrel::omp
