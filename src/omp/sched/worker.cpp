#include "omp/sched/worker.hpp"

#include "base/check.hpp"
#include "omp/kernel/perturb.hpp"
#include "omp/sched/group.hpp"
#include "omp/sched/own_thread.hpp"
#include "omp/sched/switch_tls.hpp"
#include "omp/sched/wait_list.hpp"
#include "os/futex.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::omp {

namespace {

/// Performs the fiber's action, after its registers are saved. False: what it would wait for has
/// come, and it belongs to the caller.
bool give_up(Thread& fiber) {
  switch (fiber.suspend_action) {
    case SuspendAction::dock:
      fiber.dock.give_up(RunState::docked);
      if (fiber.starts_through_queue && fiber.queued_start.dock()) {
        // Its next region has begun. This worker, or that thread, looks for work next.
        Group& group = *fiber.group;
        group.push_ready(fiber);
        group.wake_root();
      }
      return true;
    case SuspendAction::queue:
      fiber.dock.give_up(RunState::suspended);
      fiber.group->push_ready(fiber);
      return true;
    case SuspendAction::to_main_thread: {
      Group& group = *fiber.group;
      fiber.dock.give_up(RunState::suspended);
      group.push_for_main_thread(fiber);
      group.wake_root();
      return true;
    }
    case SuspendAction::suspend:
    case SuspendAction::to_own_thread:
      break;
  }
  WaitList& list = *fiber.wait_list.load(std::memory_order_relaxed);
  fiber.dock.give_up(RunState::suspended);
  if (list.add_unless(fiber, fiber.condition)) return true;
  // It became true before any waker could find the fiber, which still belongs to this worker.
  fiber.dock.keep();
  fiber.is_satisfied = true;
  return false;
}

}  // namespace

void Worker::attach_thread(std::uint32_t index) {
  index_ = index;
  root_thread_pointer_ = arch::thread_pointer();
  native_number_ = os::thread_number();
}

void Worker::run(Thread& fiber) {
  SORREL_ASSERT(!fiber.is_native() && fiber.dock.seems() == RunState::running);
  if (fiber.placement.load(std::memory_order_relaxed) != on_any_worker) [[unlikely]]
    return lend_turn(fiber);
  // Relaxed: hints.
  running_.store(&fiber, std::memory_order_relaxed);
  run_count_.store(run_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  run_until_it_waits(fiber);
  running_.store(nullptr, std::memory_order_relaxed);
}

void Worker::run_on_helper(Thread& fiber) {
  SORREL_ASSERT(!fiber.is_native() && fiber.dock.seems() == RunState::running);
  if (fiber.placement.load(std::memory_order_relaxed) != on_any_worker) [[unlikely]]
    return lend_turn(fiber);
  run_until_it_waits(fiber);
}

void Worker::lend_turn(Thread& fiber) {
  if (!fiber.is(on_own_thread)) return move_to_own_thread(fiber);
  // Relaxed: the fiber returns the turn after it has been resumed.
  has_lent_turn_.store(1, std::memory_order_relaxed);
  resume_on_own_thread(fiber, index_ == 0 ? nullptr : this);
  while (index_ != 0 && has_lent_turn_.load(std::memory_order_acquire) != 0)
    os::futex_wait(has_lent_turn_, 1, -1);
}

void Worker::move_to_own_thread(Thread& fiber) {
  has_lent_turn_.store(1, std::memory_order_relaxed);  // as above
  begin_on_own_thread(fiber, index_ == 0 ? nullptr : this);
  while (index_ != 0 && has_lent_turn_.load(std::memory_order_acquire) != 0)
    os::futex_wait(has_lent_turn_, 1, -1);
}

void Worker::return_turn() {
  has_lent_turn_.store(0, std::memory_order_release);
  os::futex_wake_one(has_lent_turn_);
}

void Worker::run_until_it_waits(Thread& fiber) {
  for (;;) {
    fiber.worker = this;
    if (thread_pointer_address_ != nullptr) *thread_pointer_address_ = fiber.thread_pointer;
    switch_tls(fiber.thread_pointer, &fiber);
    arch::sorrel_switch_context(&root_, fiber.context);
    // Back on the root; switch_to_root() has restored its thread pointer.
    perturb(index_, PerturbedPoint::give_back);
    if (fiber.suspend_action == SuspendAction::to_own_thread) [[unlikely]]
      return move_to_own_thread(fiber);
    if (give_up(fiber)) return;
  }
}

void Worker::switch_to_root(Thread& fiber, SuspendAction suspend_action) {
  SORREL_ASSERT(own_thread == &fiber && !fiber.is_native());
  fiber.suspend_action = suspend_action;
  if (fiber.placement.load(std::memory_order_relaxed) != on_any_worker) [[unlikely]] {
    if (fiber.is(on_own_thread)) return wait_on_own_thread(fiber, give_up);
    if (fiber.is(on_main_thread)) {
      fiber.clear(on_main_thread);
      fiber.group->main_thread->leave_main_thread();
    }
  }
  Worker& worker = *fiber.worker;
  if (worker.thread_pointer_address_ != nullptr)
    *worker.thread_pointer_address_ = worker.root_thread_pointer_;
  switch_tls(worker.root_thread_pointer_, &fiber);
  arch::sorrel_switch_context(&fiber.context, worker.root_);
}

}  // namespace sorrel::omp
