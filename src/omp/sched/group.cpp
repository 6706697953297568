#include "omp/sched/group.hpp"

#include <algorithm>
#include <memory>

#include "base/check.hpp"
#include "omp/icv/environment.hpp"
#include "omp/kernel/perturb.hpp"
#include "omp/sched/own_thread.hpp"
#include "os/tls_donor.hpp"

namespace sorrel::omp {

constinit thread_local Thread* own_thread [[gnu::tls_model("initial-exec")]] = nullptr;

namespace {

void initialize_fiber(void* argument) {
  own_thread = static_cast<Thread*>(argument);
  const Group& group = *own_thread->group;
  if (group.job != nullptr) group.job->prepare(group.rank);
}

/// If destructors of the program use OpenMP, the donor is a thread of the program to them.
void leave_fiber(void* argument) {
  auto& thread = *static_cast<Thread*>(argument);
  thread.group->hooks.leave(thread);
  own_thread = nullptr;
}

/// Takes a thread that only the caller may take, as soon as its worker has given it up.
void take_suspended(Thread& thread) {
  for (Pause pause; !thread.dock.try_take();)
    pause.wait();
}

/// As take_suspended(), where other threads may take it for tasks.
void take_docked(Thread& thread) {
  for (Pause pause; !thread.dock.try_take_docked();) {
    do {
      pause.wait();
    } while (thread.dock.seems() != RunState::docked);
  }
}

}  // namespace

void ReadyQueue::push(Thread& thread) {
  thread.next_ready = nullptr;
  (first_ == nullptr ? first_ : last_->next_ready) = &thread;
  last_ = &thread;
}

Thread* ReadyQueue::pop() {
  Thread* thread = first_;
  if (thread != nullptr) first_ = thread->next_ready;
  return thread;
}

Group::Group(Thread& first, const TeamHooks& team_hooks) : initial(first), hooks(team_hooks) {}

void Group::push_ready(Thread& thread) {
  lock.lock();
  ready.push(thread);
  ready_count.fetch_add(1, std::memory_order_seq_cst);  // has_work()
  lock.unlock();
}

Thread* Group::pop_ready() {
  if (ready_count.load(std::memory_order_relaxed) == 0) return nullptr;  // a hint
  lock.lock();
  Thread* thread = ready.pop();
  if (thread != nullptr) {
    // Under the lock.
    [[maybe_unused]] const std::uint32_t count =
        ready_count.fetch_sub(1, std::memory_order_relaxed);
    SORREL_ASSERT(count != 0);
    taken_count.store(taken_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  lock.unlock();
  if (thread == nullptr) return nullptr;
  take_suspended(*thread);
  return thread;
}

void Group::push_for_main_thread(Thread& thread) {
  lock.lock();
  for_main_thread.push(thread);
  for_main_thread_count.fetch_add(1, std::memory_order_seq_cst);  // has_work_for_main_thread()
  lock.unlock();
}

Thread* Group::pop_for_main_thread() {
  if (for_main_thread_count.load(std::memory_order_relaxed) == 0) return nullptr;  // a hint
  lock.lock();
  Thread* thread = for_main_thread.pop();
  if (thread != nullptr)
    for_main_thread_count.fetch_sub(1, std::memory_order_relaxed);  // under the lock
  lock.unlock();
  if (thread != nullptr) take_suspended(*thread);
  return thread;
}

Thread* Group::take_unstarted(std::uint32_t preferred) {
  const std::uint32_t number = unstarted.take(preferred);
  if (number == StartBits::none) return nullptr;
  SORREL_ASSERT(number < member_count.load(std::memory_order_relaxed));
  Thread& thread = *members.load(std::memory_order_relaxed)[number];  // (B) ordered it
  perturb(preferred, PerturbedPoint::borrow);
  take_docked(thread);
  return &thread;
}

bool Group::make_fiber(Thread& thread) {
  SORREL_ASSERT(thread.group == nullptr);
  auto donor = std::make_unique<os::TlsDonor>();
  const StayOnWorker stay;
  thread.group = this;
  if (!donor->start(environment().stack_bytes, initialize_fiber, &thread)) {
    thread.group = nullptr;
    return false;
  }
  // On a helper the maker has the helper's signal mask.
  const Thread* const maker = own_thread;
  if (maker != nullptr && !maker->is_native() && !maker->is(on_own_thread))
    donor->set_signals(maker->donor->signals());
  thread.donor = donor.release();
  const os::TlsDonor& lent = *thread.donor;
  thread.thread_pointer = lent.thread_pointer();
  thread.context =
      arch::make_context(lent.stack_bottom(), lent.stack_bytes(), hooks.run_fiber, &thread);
  thread.dock.give_up(RunState::docked);
  return true;
}

void Group::end_fiber(Thread& thread) {
  SORREL_ASSERT(thread.donor != nullptr && thread.group != nullptr);
  // From here on no helper takes it.
  take_docked(thread);
  for (Pause pause; thread.starts_through_queue && !thread.queued_start.is_docked();)
    pause.wait();
  if (thread.is(on_own_thread)) end_on_own_thread(thread);
  thread.donor->set_last(leave_fiber);
  delete thread.donor;
  // Its last calls were those of its own thread.
  thread.placement.store(on_any_worker, std::memory_order_relaxed);
  thread.donor = nullptr;
  thread.group = nullptr;
}

Thread* Group::take_docked_for_tasks(std::uint32_t preferred) {
  const TaskFlag* flag = task_flag.load(std::memory_order_acquire);
  if (flag == nullptr || !flag->seems_up()) return nullptr;
  // (R) acquire. Arrays are never freed, so an old one is readable, and has the same threads.
  // Threads beyond the bits start through the queue, and could be in it twice.
  const std::uint32_t count = std::min(member_count.load(std::memory_order_acquire), bit_count);
  Thread* const* threads = members.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    const std::uint32_t number = 1 + (preferred + i) % (count - 1);
    if ((unstarted.seems() >> number & 1) != 0) continue;
    Thread& thread = *threads[number];
    // The thread that takes it from the queue would not expect that.
    if (thread.starts_through_queue) continue;
    perturb(preferred, PerturbedPoint::take);
    if (thread.dock.seems() != RunState::docked || !thread.dock.try_take_docked()) continue;
    if (hooks.may_help_with_tasks(thread)) {
      thread.resume_action = ResumeAction::tasks;
      return &thread;
    }
    // Another thread may be about to start it in the next region.
    thread.dock.give_up(RunState::docked);
  }
  return nullptr;
}

}  // namespace sorrel::omp
