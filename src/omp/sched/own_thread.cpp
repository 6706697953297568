#include "omp/sched/own_thread.hpp"

#include <csignal>
#include <utility>

#include "omp/kernel/perturb.hpp"
#include "omp/sched/group.hpp"
#include "os/futex.hpp"
#include "os/tls_donor.hpp"

namespace sorrel::omp {

namespace {

void call(OwnThread& own, OwnThread::Call what) {
  // (R) release: the fiber's state is that of its last resumption.
  own.call.store(what, std::memory_order_release);
  os::futex_wake_one(own.call);
}

/// On the donor's thread, on the fiber's stack, where a handler of a signal has room.
void continue_fiber(void* argument) {
  Thread& fiber = *static_cast<Thread*>(argument);
  OwnThread& own = *fiber.own;
  own.worker.attach_thread(own.worker.index());
  pthread_sigmask(SIG_SETMASK, &fiber.donor->signals(), nullptr);
  arch::sorrel_switch_context(&own.abandoned, fiber.context);
}

/// On the donor's thread, in its frames: returns when the fiber has ended.
void enter_fiber(void* argument) {
  Thread& fiber = *static_cast<Thread*>(argument);
  std::byte* const bottom = fiber.donor->stack_bottom();
  const auto bytes = static_cast<std::size_t>(static_cast<std::byte*>(fiber.context) - bottom);
  const arch::Context below = arch::make_context(bottom, bytes, continue_fiber, argument);
  arch::sorrel_switch_context(&fiber.own->donor_frames, below);
}

void lend(OwnThread& own, Worker* lender) {
  own.lender = lender;
  // A fiber that a native thread has started has the rights of the first helper.
  own.worker.set_index(lender == nullptr ? 1 : lender->index());
}

}  // namespace

void begin_on_own_thread(Thread& fiber, Worker* lender) {
  if (fiber.own == nullptr) fiber.own = new OwnThread;
  lend(*fiber.own, lender);
  fiber.worker = &fiber.own->worker;
  fiber.placement.store(on_own_thread, std::memory_order_relaxed);
  fiber.donor->call(enter_fiber);
}

void resume_on_own_thread(Thread& fiber, Worker* lender) {
  lend(*fiber.own, lender);
  call(*fiber.own, OwnThread::run);
}

void wait_on_own_thread(Thread& fiber, bool (*give_up)(Thread& fiber)) {
  OwnThread& own = *fiber.own;
  Worker* const lender = own.lender;
  const bool is_docking = fiber.suspend_action == SuspendAction::dock;
  if (is_docking && std::exchange(own.has_start, false)) return;
  if (!give_up(fiber) || (is_docking && fiber.group->hooks.takes_next_start(fiber))) return;
  perturb(own.worker.index(), PerturbedPoint::give_back);
  // (T) release: the helper may sleep, or look for other work.
  if (lender != nullptr) lender->return_turn();
  std::uint32_t what = OwnThread::none;
  // (R) acquire.
  while ((what = own.call.load(std::memory_order_acquire)) == OwnThread::none)
    os::futex_wait(own.call, OwnThread::none, -1);
  // Relaxed: the next call comes after the fiber has been given up again.
  own.call.store(OwnThread::none, std::memory_order_relaxed);
  if (what == OwnThread::end) {
    // The donor's frames have no room for handlers.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    arch::sorrel_switch_context(&own.abandoned, own.donor_frames);
  }
}

void end_on_own_thread(Thread& fiber) {
  call(*fiber.own, OwnThread::end);
}

}  // namespace sorrel::omp
