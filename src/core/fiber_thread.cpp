#include "core/fiber_thread.hpp"

#include <cerrno>
#include <memory>

#include "arch/cpu.hpp"
#include "core/scheduler.hpp"
#include "os/thread.hpp"

namespace sorrel::core {

namespace {

/// Out of line: the fiber goes on with another thread, and compilers keep the addresses of
/// thread-locals.
[[gnu::noinline]] void become_guest(Guest& guest) {
  Worker::set_current(nullptr);
  Guest::set_current(&guest);
}

}  // namespace

bool FiberThread::move_out(std::int32_t& waiting_count, OnStart on_start, void* argument) {
  Worker& worker = *Worker::current();
  Fiber& fiber = worker.running();
  std::unique_ptr<FiberThread> made(new FiberThread(fiber, waiting_count, on_start, argument));
  if (!os::start_background_thread(run, made.get())) return false;
  FiberThread* self = made.release();
  worker.admit_guests();
  worker.moving_.push_back(self);
  // The worker's thread leaves its fibers, and Worker::leave() starts this one.
  worker.request_attention();
  worker.suspend();
  become_guest(*self->guest_);
  return true;
}

/// Outside any fiber, the last use of the worker before another thread may enter it.
void Worker::leave() {
  for (FiberThread* thread : moving_)
    thread->start_fiber();
  moving_.clear();
  give_seat();
}

void FiberThread::start_fiber() {
  SORREL_ASSERT(fiber_.state == FiberState::waiting);
  context_ = fiber_.context;
  settings_ = fiber_.settings;
  fiber_.state = FiberState::running;
  guest_ = std::make_unique<Guest>(*fiber_.worker, fiber_, waiting_count_);
  guest_->thread_ = this;
  // Release, pairs with run_fiber(): the fiber has left its stack.
  is_handed_over_.store(1, std::memory_order_release);
  os::futex_wake_one(is_handed_over_);
}

void* FiberThread::run(void* self) {
  const std::unique_ptr<FiberThread> thread(static_cast<FiberThread*>(self));
  thread->run_fiber();
  return nullptr;
}

void FiberThread::run_fiber() {
  on_start_(argument_);
  while (is_handed_over_.load(std::memory_order_acquire) == 0)
    os::futex_wait(is_handed_over_, 0, -1);
  state_.take_calling_thread();
  root_.sanitizer.adopt_thread();
  *state_.errno_address = fiber_.saved_errno;
  *state_.exceptions = fiber_.saved_exceptions;
  if (fiber_.thread_pointer != 0) arch::set_thread_pointer(fiber_.thread_pointer);
  root_.sanitizer.before_switch_to(fiber_.sanitizer, false);
  arch::sorrel_switch_context(&root_.context, context_);
  root_.sanitizer.after_switch();
  hand_back();
}

void FiberThread::move_back() {
  Guest& guest = *Guest::current();
  guest.enter();
  guest.thread_->leave_fiber();
}

/// On the fiber's stack. Returns on the worker's thread.
[[gnu::noinline]] void FiberThread::leave_fiber() {
  Fiber& fiber = fiber_;
  Guest::set_current(nullptr);
  fiber.saved_errno = *state_.errno_address;
  fiber.saved_exceptions = *state_.exceptions;
  if (fiber.thread_pointer != 0) arch::set_thread_pointer(state_.thread_pointer);
  fiber.sanitizer.before_switch_to(root_.sanitizer, false);
  arch::sorrel_switch_context(&context_, root_.context);
  fiber.sanitizer.after_switch();
}

/// On this thread's own stack, with the worker's seat.
void FiberThread::hand_back() {
  Worker& worker = *fiber_.worker;
  worker.running_ = guest_->before_;
  fiber_.is_guest = false;
  fiber_.context = context_;
  fiber_.settings = settings_;
  fiber_.state = FiberState::waiting;
  worker.make_ready(fiber_);
  Worker::set_current(nullptr);
  // First the wake: without the seat, the worker may end at once.
  worker.wake();
  worker.seat_.give();
}

bool FiberThread::leave_attached(std::int32_t& waiting_count) {
  Worker& worker = *Worker::current();
  Fiber& fiber = worker.running();
  worker.admit_guests();
  if (!os::start_background_thread(run_worker, &worker)) {
    worker.expel_guests();
    return false;
  }
  auto* guest = new Guest(worker, fiber, waiting_count);
  worker.running_ = &worker.root_;
  become_guest(*guest);
  worker.give_seat();
  return true;
}

void* FiberThread::run_worker(void* argument) {
  Worker& worker = *static_cast<Worker*>(argument);
  ThreadState state;
  state.take_calling_thread();
  // The rank goes on with the thread on which the worker began, and its block.
  worker.thread_pointer_ = 0;
  worker.scheduler_.hooks_.on_thread_start();
  for (;;)
    worker.run_until_attention(state);
}

}  // namespace sorrel::core
