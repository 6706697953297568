#include "omp/worker.hpp"

#include "omp/become.hpp"
#include "omp/group.hpp"
#include "omp/pool.hpp"
#include "os/futex.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::omp {

void Worker::take_thread(std::uint32_t index) {
  index_ = index;
  root_thread_pointer_ = arch::thread_pointer();
  native_number_ = os::thread_number();
}

void Worker::run(Thread& fiber) {
  // Relaxed: hints.
  running_.store(&fiber, std::memory_order_relaxed);
  run_count_.store(run_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  run_until_it_waits(fiber);
  running_.store(nullptr, std::memory_order_relaxed);
}

void Worker::run_until_it_waits(Thread& fiber) {
  for (;;) {
    fiber.worker = this;
    if (thread_pointer_place_ != nullptr) *thread_pointer_place_ = fiber.thread_pointer;
    become(fiber.thread_pointer, &fiber);
    arch::sorrel_switch_context(&root_, fiber.context);
    // Back on the root; leave() has restored its thread pointer.
    switch (fiber.then) {
      case Then::dock:
        fiber.dock.give_up(Place::docked);
        return;
      case Then::queue:
        fiber.dock.give_up(Place::suspended);
        fiber.group->push_ready(fiber);
        return;
      case Then::go_home: {
        Group& group = *fiber.group;
        fiber.dock.give_up(Place::suspended);
        group.push_at_home(fiber);
        group.root.wake();
        return;
      }
      case Then::suspend:
        fiber.dock.give_up(Place::suspended);
        if (fiber.wait_list->add_unless(fiber, fiber.condition)) return;
        // It became true before any waker could find the fiber, which still belongs to this worker.
        fiber.dock.keep();
        fiber.is_satisfied = true;
        break;
    }
  }
}

void Worker::leave(Thread& fiber, Then then) {
  fiber.then = then;
  if (fiber.is_at_home) [[unlikely]] {
    fiber.is_at_home = false;
    fiber.group->home->leave_home();
  }
  Worker& worker = *fiber.worker;
  if (worker.thread_pointer_place_ != nullptr)
    *worker.thread_pointer_place_ = worker.root_thread_pointer_;
  become(worker.root_thread_pointer_, &fiber);
  arch::sorrel_switch_context(&fiber.context, worker.root_);
}

bool Worker::must_retire() const {
  return index_ != 0 && index_ >= pool().width();
}

void Worker::sleep(std::int64_t timeout_ns) {
  if (timeout_ns >= 0) {
    if (seems_asleep()) os::futex_wait(is_asleep_, 1, timeout_ns);
    get_up();
    return;
  }
  while (seems_asleep())
    os::futex_wait(is_asleep_, 1, -1);
}

bool Worker::wake() {
  // Acq_rel: the sleeper, whose load of the word is seq_cst, sees what was done before.
  if (is_asleep_.load(std::memory_order_seq_cst) == 0 ||
      is_asleep_.exchange(0, std::memory_order_acq_rel) == 0)
    return false;
  os::futex_wake_one(is_asleep_);
  return true;
}

}  // namespace sorrel::omp
