#include "omp/worker.hpp"

#include "arch/cpu.hpp"
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
    arch::set_thread_pointer(fiber.thread_pointer);
    arch::sorrel_switch_context(&root_, fiber.context);
    // Back on the root, whose thread pointer leave() has restored.
    switch (fiber.then) {
      case Then::dock:
        // (U) release, pairs with (D): its registers and its record.
        fiber.place.store(Place::docked, std::memory_order_release);
        return;
      case Then::queue:
        fiber.place.store(Place::suspended, std::memory_order_release);
        fiber.group->push_ready(fiber);
        return;
      case Then::suspend:
        fiber.place.store(Place::suspended, std::memory_order_release);
        if (fiber.wait_list->add_unless(fiber, fiber.condition)) return;
        // It came true before anybody could see it waiting: the fiber is still ours.
        fiber.place.store(Place::running, std::memory_order_relaxed);
        fiber.is_satisfied = true;
        break;
    }
  }
}

void Worker::leave(Thread& fiber, Then then) {
  fiber.then = then;
  Worker& worker = *fiber.worker;
  if (worker.thread_pointer_place_ != nullptr)
    *worker.thread_pointer_place_ = worker.root_thread_pointer_;
  arch::set_thread_pointer(worker.root_thread_pointer_);
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
  // Acq_rel: what was done before is seen by the sleeper, whose look at the word is seq_cst.
  if (is_asleep_.load(std::memory_order_seq_cst) == 0 ||
      is_asleep_.exchange(0, std::memory_order_acq_rel) == 0)
    return false;
  os::futex_wake_one(is_asleep_);
  return true;
}

}  // namespace sorrel::omp
