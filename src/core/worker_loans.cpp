// Loans: a worker offers fibers that are about to compute, and idle workers run them until their
// next call of the library. README.md, "Loans".
#include <utility>

#include "arch/cpu.hpp"
#include "core/scheduler.hpp"
#include "core/worker.hpp"

namespace sorrel::core {

void* Worker::peek_user() {
  const Worker* worker = current();
  if (worker == nullptr) return nullptr;
  const Fiber& fiber = *worker->running_;
  if (fiber.user != nullptr || fiber.burst == nullptr) return fiber.user;
  return fiber.burst->user;
}

void* Worker::come_home() {
  Worker* worker = current();
  if (worker == nullptr) return nullptr;
  Fiber& fiber = *worker->running_;
  Burst* burst = fiber.burst;
  if (burst == nullptr || burst->user == nullptr) return fiber.user;
  const bool is_lent = burst->borrower != nullptr;
  // A child has the calling thread only, and the parent may share the fiber with it (vfork).
  if (is_lent && worker->scheduler_.hooks_.is_forked_child()) return burst->user;
  const std::uint64_t now = arch::cycles();
  const std::uint64_t cycles = now - burst->began;
  const BurstLimits& limits = worker->scheduler_.burst_limits();
  burst->site->record(cycles, is_lent, now, limits);
  if (is_lent) {
    ++worker->loan_counts_.loans;
    worker->loan_counts_.lent_cycles += cycles;
    worker->go_home(fiber);
    // From here on the calling thread runs the fiber's own worker.
  } else if (cycles >= limits.lent_min) {
    ++worker->loan_counts_.long_home_bursts;
    worker->loan_counts_.long_home_cycles += cycles;
  }
  // In this order for a signal handler between the two: it finds the user in either place.
  fiber.user = burst->user;
  std::atomic_signal_fence(std::memory_order_release);
  burst->user = nullptr;
  return fiber.user;
}

void Worker::begin_burst(const void* call_site) {
  Fiber& fiber = *running_;
  SORREL_ASSERT(fiber.worker == this && fiber.user != nullptr);
  if (fiber.pin_count != 0) return;
  if (fiber.burst == nullptr) {
    fiber.burst = new Burst;
    fiber.burst->run = run_return;
    fiber.burst->fiber = &fiber;
  }
  Burst& burst = *fiber.burst;
  burst.site = &burst.history.at(call_site);
  if (!burst.site->is_due(arch::cycles)) return;
  const bool is_long = burst.site->is_worth_a_loan(scheduler_.burst_limits());
  // Until here it may be idle again soon: it has sought loans since its last long idle time.
  if (is_long && is_seeker_) end_seeking();
  const bool is_offered =
      is_long && !ready_.empty() && are_loans_sought() && scheduler_.hooks_.may_lend(fiber);
  if (is_offered) {
    // Not into the box: a thief could run the fiber before its registers are saved. The next fiber
    // that goes on to compute puts it there, or take_back().
    fiber.state = FiberState::ready;
    offers_.push(fiber);
    has_offers_ = true;
    switch_to(*ready_.pop());
    // Perhaps on another worker: this one's members are no longer the caller's.
    if (burst.borrower != nullptr) fiber.state = FiberState::lent;
  } else if (has_offers_) {
    publish_offers();
  }
  burst.began = arch::cycles();
  burst.user = fiber.user;
  std::atomic_signal_fence(std::memory_order_release);
  fiber.user = nullptr;
}

/// Puts offers into the box, as many as it holds. Their registers are saved.
void Worker::publish_offers() {
  bool any = false;
  while (Fiber* fiber = offers_.first()) {
    // The link belongs to the queue until the fiber is claimed.
    Fiber* next = fiber->next_ready;
    if (!box_.try_push(fiber)) break;
    offers_.replace_first(next);
    any = true;
  }
  if (any) wake_seeker();
}

/// The oldest offer that no other worker has claimed, to be run here; null: none is left.
Fiber* Worker::take_back() {
  publish_offers();
  Fiber* fiber = box_.claim();
  if (fiber == nullptr) has_offers_ = false;
  return fiber;
}

/// Claims a fiber of another worker, if there is one, and makes the root ready, which will run it.
bool Worker::borrow() {
  // The root of a thread that runs several workers is never waiting.
  if (!is_seeker_ || root_.state != FiberState::waiting) return false;
  const std::uint32_t count = scheduler_.worker_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t index = (lender_ + i) % count;
    Worker& lender = scheduler_.worker(index);
    if (lender.box_.seems_empty()) continue;
    Fiber* fiber = lender.box_.claim();
    if (fiber == nullptr) continue;
    lender_ = index;
    loan_ = fiber;
    make_ready(root_);
    return true;
  }
  return false;
}

/// On the root: runs the fiber until its next call of the library, then sends it home.
void Worker::run_borrowed(Fiber& fiber) {
  if (!scheduler_.worker(lender_).box_.seems_empty()) wake_seeker();
  fiber.burst->borrower = this;
  set_current_of(fiber, this);
  borrowed_.store(&fiber, std::memory_order_relaxed);
  switch_to(fiber);
  borrowed_.store(nullptr, std::memory_order_relaxed);
  // Its registers are saved. After the call it belongs to its own worker.
  loan_ = nullptr;
  post(*fiber.worker, *fiber.burst);
}

/// On the borrower, in the fiber: returns on the fiber's own worker.
void Worker::go_home(Fiber& fiber) {
  fiber.state = FiberState::ready;
  switch_to(root_);
}

/// On the fiber's own worker.
void Worker::run_return(Worker& home, RemoteCall& call) {
  Burst& burst = static_cast<Burst&>(call);
  Fiber& fiber = *burst.fiber;
  SORREL_ASSERT(fiber.worker == &home && fiber.state == FiberState::ready);
  burst.borrower = nullptr;
  set_current_of(fiber, &home);
  // First: its call is short, and others may wait for what it sends.
  home.ready_.push_front(fiber);
}

/// Wakes a worker that sleeps and would run a fiber from the box.
void Worker::wake_seeker() {
  const std::uint32_t count = scheduler_.worker_count();
  for (std::uint32_t i = 1; i < count; ++i) {
    Worker& worker = scheduler_.worker((index_ + i) % count);
    if (worker.seeks_loans_.load(std::memory_order_relaxed) && worker.seems_asleep() &&
        worker.wake())
      return;
  }
}

void Worker::begin_to_seek() {
  if (is_seeker_ || !may_borrow_) return;
  is_seeker_ = true;
  seeks_loans_.store(true, std::memory_order_relaxed);
  // Relaxed: a hint. A worker that misses it makes no offers yet.
  scheduler_.seeker_count_.fetch_add(1, std::memory_order_relaxed);
}

void Worker::end_seeking() {
  is_seeker_ = false;
  seeks_loans_.store(false, std::memory_order_relaxed);
  scheduler_.seeker_count_.fetch_sub(1, std::memory_order_relaxed);
}

PinnedFiber::PinnedFiber() : fiber_(nullptr) {
  Worker* worker = Worker::current();
  if (worker == nullptr || !worker->in_fiber()) return;
  fiber_ = &worker->running();
  ++fiber_->pin_count;
}

PinnedFiber::~PinnedFiber() {
  if (fiber_ != nullptr) --fiber_->pin_count;
}

}  // namespace sorrel::core
