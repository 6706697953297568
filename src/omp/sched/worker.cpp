#include "omp/sched/worker.hpp"

#include "base/check.hpp"
#include "omp/sched/group.hpp"
#include "omp/sched/switch_tls.hpp"
#include "omp/sched/wait_list.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::omp {

void Worker::attach_thread(std::uint32_t index) {
  index_ = index;
  root_thread_pointer_ = arch::thread_pointer();
  native_number_ = os::thread_number();
}

void Worker::run(Thread& fiber) {
  SORREL_ASSERT(!fiber.is_native() && fiber.dock.seems() == RunState::running);
  // Relaxed: hints.
  running_.store(&fiber, std::memory_order_relaxed);
  run_count_.store(run_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  run_until_it_waits(fiber);
  running_.store(nullptr, std::memory_order_relaxed);
}

void Worker::run_until_it_waits(Thread& fiber) {
  for (;;) {
    fiber.worker = this;
    if (thread_pointer_address_ != nullptr) *thread_pointer_address_ = fiber.thread_pointer;
    switch_tls(fiber.thread_pointer, &fiber);
    arch::sorrel_switch_context(&root_, fiber.context);
    // Back on the root; switch_to_root() has restored its thread pointer.
    switch (fiber.suspend_action) {
      case SuspendAction::dock:
        fiber.dock.give_up(RunState::docked);
        return;
      case SuspendAction::queue:
        fiber.dock.give_up(RunState::suspended);
        fiber.group->push_ready(fiber);
        return;
      case SuspendAction::to_main_thread: {
        Group& group = *fiber.group;
        fiber.dock.give_up(RunState::suspended);
        group.push_for_main_thread(fiber);
        group.wake_root();
        return;
      }
      case SuspendAction::suspend:
        fiber.dock.give_up(RunState::suspended);
        if (fiber.wait_list->add_unless(fiber, fiber.condition)) return;
        // It became true before any waker could find the fiber, which still belongs to this worker.
        fiber.dock.keep();
        fiber.is_satisfied = true;
        break;
    }
  }
}

void Worker::switch_to_root(Thread& fiber, SuspendAction suspend_action) {
  SORREL_ASSERT(own_thread == &fiber && !fiber.is_native());
  fiber.suspend_action = suspend_action;
  if (fiber.is_on_main_thread) [[unlikely]] {
    fiber.is_on_main_thread = false;
    fiber.group->main_thread->leave_main_thread();
  }
  Worker& worker = *fiber.worker;
  if (worker.thread_pointer_address_ != nullptr)
    *worker.thread_pointer_address_ = worker.root_thread_pointer_;
  switch_tls(worker.root_thread_pointer_, &fiber);
  arch::sorrel_switch_context(&fiber.context, worker.root_);
}

}  // namespace sorrel::omp
