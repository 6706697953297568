#include "core/guest.hpp"

#include <utility>

#include "core/perturbation.hpp"
#include "core/scheduler.hpp"

namespace sorrel::core {

namespace {

// Initial-exec, as the running worker (worker.cpp).
[[gnu::tls_model("initial-exec")]] thread_local Guest* current_guest = nullptr;

// A worker that runs a fiber without a wait is asked for its seat this often.
constexpr std::int64_t request_distance_ns = 1'000'000;

}  // namespace

Guest::Guest(Worker& worker, Fiber& fiber, std::int32_t& waiting_count)
    : worker_(worker), fiber_(fiber), waiting_count_(waiting_count) {
  fiber.worker = &worker;
  fiber.is_guest = true;
  fiber.context = this;
  // Differs from that of each other fiber, so that a switch takes its rare path.
  fiber.settings = this;
}

Guest* Guest::current() {
  return current_guest;
}

void Guest::set_current(Guest* guest) {
  current_guest = guest;
}

void Guest::enter() {
  is_inside_ = true;
  worker_.take_seat_for_guest();
  perturb(worker_.id(), PerturbedPoint::seat);
  Worker::set_current(&worker_);
  before_ = worker_.running_;
  worker_.running_ = &fiber_;
  fiber_.state = FiberState::running;
}

void Guest::leave() {
  worker_.running_ = before_;
  Worker::set_current(nullptr);
  worker_.give_seat_of_guest();
  is_inside_ = false;
}

void Worker::take_seat_for_guest() {
  seat_.take(Seat::guest, request_distance_ns, [this](Seat::Holder holder) {
    if (holder == Seat::worker) request_attention();
  });
}

void Worker::give_seat_of_guest() {
  while (ready_.first() != nullptr && ready_.first()->is_guest)
    grant(*ready_.pop());
  // A request goes back to where the worker's thread finds it in its next poll. Its sender wakes
  // it.
  if (std::exchange(has_missed_attention_, false))
    control_.newly_opened.push(id_, memory_.link(id_, id_));
  const bool is_needed = !ready_.empty() || deferred_count_ != 0 ||
                         (!timers_.empty() && timers_.next_due_ns() < parked_until_ns_);
  seat_.give();
  perturb(id_, PerturbedPoint::seat);
  // Its thread checks all of this when it has the seat again; it may sleep.
  if (is_needed) wake();
}

void Worker::grant(Fiber& fiber) {
  Guest& guest = Guest::of(fiber);
  --guest.waiting_count_;
  fiber.state = FiberState::running;
  // Release, pairs with the acquire of the guest, which then waits for the seat: the guest lives.
  guest.is_granted_.store(1, std::memory_order_release);
  os::futex_wake_one(guest.is_granted_);
}

void Worker::wait_as_guest() {
  Guest& guest = Guest::of(*running_);
  scheduler_.hooks_.on_guest_wait(guest);
  ++guest.waiting_count_;
  running_ = guest.before_;
  set_current(nullptr);
  give_seat_of_guest();
  while (guest.is_granted_.load(std::memory_order_acquire) == 0)
    os::futex_wait(guest.is_granted_, 0, -1);
  guest.is_granted_.store(0, std::memory_order_relaxed);
  guest.enter();
  scheduler_.hooks_.on_guest_resume(guest);
}

void Worker::admit_guests() {
  SORREL_ASSERT(current() == this);
  if (has_guests_) return;
  has_guests_ = true;
  SORREL_CHECK(seat_.try_take(Seat::worker));
}

void Worker::expel_guests() {
  seat_.give();
  has_guests_ = false;
}

void Worker::take_seat() {
  if (!has_guests_) return;
  seat_.take_after_waiters(Seat::worker);
  // A thread may have begun to wait while a guest had the seat.
  if (seat_.has_waiters()) request_attention();
}

void Worker::give_seat() {
  if (has_guests_) seat_.give();
}

}  // namespace sorrel::core
