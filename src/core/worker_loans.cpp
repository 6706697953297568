// Loans: a worker offers fibers that are about to compute, and idle workers run them until their
// next call of the library. README.md, "Loans". And loans that begin later.
#include <cerrno>
#include <utility>

#include "arch/cpu.hpp"
#include "core/later_balance.hpp"
#include "core/perturbation.hpp"
#include "core/scheduler.hpp"
#include "core/worker.hpp"
#include "os/own_process.hpp"

namespace sorrel::core {

// Alone on its line: every worker reads it at the end of calls.
alignas(cache_line_bytes) std::atomic<std::uint32_t> seeker_count{0};

void begin_slow_ends() {
  // Relaxed: a hint. A worker that misses it makes no offers yet.
  seeker_count.fetch_add(seeker_step, std::memory_order_relaxed);
}

void end_slow_ends() {
  seeker_count.fetch_sub(seeker_step, std::memory_order_relaxed);
}

std::atomic<BalanceStage> BalanceStageWord::word{BalanceStage::as_configured};

namespace {

/// Polls of a worker that runs fibers, before it takes an offer back: some us.
constexpr std::uint32_t polls_per_offer = 64;

}  // namespace

void postpone_balance() {
  BalanceStageWord::word.store(BalanceStage::postponed, std::memory_order_relaxed);
}

void begin_loans() {
  SORREL_ASSERT(balance_stage() != BalanceStage::as_configured);
  BalanceStage expected = BalanceStage::postponed;
  BalanceStageWord::word.compare_exchange_strong(expected, BalanceStage::lending,
                                                 std::memory_order_relaxed);
}

void begin_measuring(Scheduler& scheduler) {
  SORREL_ASSERT(balance_stage() != BalanceStage::as_configured);
  BalanceStageWord::word.store(BalanceStage::measuring, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i)
    scheduler.worker(i).request_attention();
}

bool are_fibers_lent(const Scheduler& scheduler) {
  return scheduler.lends_fibers() && balance_stage() != BalanceStage::postponed;
}

void give_block(Worker& worker, Fiber& fiber, std::uintptr_t thread_pointer) {
  SORREL_ASSERT(Worker::current() == &worker && fiber.worker == &worker);
  SORREL_ASSERT(&worker.running() != &fiber && !fiber.is_guest && fiber.thread_pointer == 0);
  SORREL_ASSERT(fiber.state == FiberState::waiting || fiber.state == FiberState::ready);
  SORREL_ASSERT(
      fiber.saved_exceptions.caught == nullptr && fiber.saved_exceptions.uncaught_count == 0,
      "a fiber handles an exception, whose state lies in the block that it leaves");
  fiber.thread_pointer = thread_pointer;
  const auto errno_here = reinterpret_cast<std::uintptr_t>(&errno);
  *reinterpret_cast<int*>(errno_here - arch::thread_pointer() + thread_pointer) = fiber.saved_errno;
  Worker::set_current_of(fiber, &worker);
}

void* Worker::peek_user() {
  const Worker* worker = current();
  if (worker == nullptr) return nullptr;
  void* user = worker->running_->user;
  return user != nullptr || worker->burst_ == nullptr ? user : worker->burst_->user;
}

void* Worker::come_home() {
  Worker* worker = current();
  if (worker == nullptr) return nullptr;
  Burst* burst = worker->burst_;
  if (burst == nullptr) return nullptr;
  const bool is_lent = burst->borrower != nullptr;
  // A child has the calling thread only, and the parent may share the fiber with it (vfork).
  if (is_lent && os::is_forked_child()) return burst->user;
  const std::uint64_t now = arch::cycles();
  const std::uint64_t cycles = now - burst->began;
  const BurstLimits& limits = worker->scheduler_.burst_limits();
  burst->site->record(cycles, is_lent, now, limits);
  // In this order for a signal handler between the two: it finds the user in either place.
  Fiber& fiber = burst->fiber;
  fiber.user = burst->user;
  std::atomic_signal_fence(std::memory_order_release);
  worker->burst_ = nullptr;
  if (is_lent) {
    ++worker->loan_counts_.loans;
    worker->loan_counts_.lent_cycles += cycles;
    worker->go_home(fiber);
    // From here on the calling thread runs the fiber's own worker.
  } else if (cycles >= limits.lent_min) {
    ++worker->loan_counts_.long_home_bursts;
    worker->loan_counts_.long_home_cycles += cycles;
  }
  return fiber.user;
}

void Worker::begin_burst(std::unique_ptr<Burst>& made, const void* call_site) {
  // The workers that seek may be those of another scheduler of the process. In the forked child of
  // a fiber that was lent, the thread is still the borrower's.
  if (!has_loans_ || balance_stage() == BalanceStage::postponed || current() != this) return;
  Fiber& fiber = *running_;
  SORREL_ASSERT(fiber.worker == this && fiber.user != nullptr && burst_ == nullptr);
  // A guest has no registers to lend.
  if (fiber.pin_count != 0 || fiber.is_guest) return;
  if (made == nullptr) made = std::make_unique<Burst>(fiber, run_return);
  Burst& burst = *made;
  burst.site = &burst.history.at(call_site);
  if (!burst.site->is_due(arch::cycles)) return;
  const bool is_long =
      burst.site->is_worth_a_loan(scheduler_.burst_limits()) || perturbs_choice(id_);
  // Until here it may be idle again soon: it has sought loans since its last long idle time.
  if (is_long && is_seeker_) end_seeking();
  const bool is_offered =
      is_long && !ready_.empty() && are_loans_sought() && scheduler_.hooks_.may_lend(fiber);
  if (is_offered) {
    // Not into the box: a thief could run the fiber before its registers are saved. The next fiber
    // that goes on to compute puts it there, or take_back().
    fiber.state = FiberState::ready;
    record_loan(trace::Kind::lend, fiber);
    offer(burst);
    switch_to(*ready_.pop());
    if (burst.borrower != nullptr) fiber.state = FiberState::lent;
  } else if ((rare_states_ & has_offers) != 0) {
    publish_offers();
  }
  // Perhaps on another worker: this one's members are then no longer the caller's.
  Worker& here = burst.borrower != nullptr ? *burst.borrower : *this;
  burst.began = arch::cycles();
  burst.user = fiber.user;
  here.burst_ = &burst;
  std::atomic_signal_fence(std::memory_order_release);
  fiber.user = nullptr;
}

void Worker::offer(Burst& burst) {
  burst.next_offer = nullptr;
  (first_offer_ == nullptr ? first_offer_ : last_offer_->next_offer) = &burst;
  last_offer_ = &burst;
  if ((rare_states_ & has_offers) == 0) polls_with_offers_ = 0;
  rare_states_ |= has_offers;
}

/// Puts offers into the box, as many as it holds. Their registers are saved.
void Worker::publish_offers() {
  bool any = false;
  while (Burst* burst = first_offer_) {
    // The link belongs to the list until the burst is claimed.
    Burst* next = burst->next_offer;
    if (!box_.try_push(burst)) break;
    first_offer_ = next;
    any = true;
  }
  if (!any) return;
  perturb(id_, PerturbedPoint::lend);
  wake_seeker();
}

/// Makes the oldest offer ready that no other worker has claimed; false: none is left.
bool Worker::take_back() {
  if ((rare_states_ & has_offers) == 0) return false;
  publish_offers();
  polls_with_offers_ = 0;
  if (Burst* burst = box_.claim()) {
    ready_.push(burst->fiber);
    return true;
  }
  rare_states_ &= ~std::uint32_t{has_offers};
  return false;
}

/// In a poll: takes an offer back if no fiber is ready here, or from time to time if there is
/// always one, or the running fiber goes on.
bool Worker::take_back_if_due() {
  const bool is_idle = running_->state != FiberState::running && ready_.empty();
  if (!is_idle && ++polls_with_offers_ < polls_per_offer) return false;
  return take_back();
}

/// Claims a burst of another worker, if there is one, and makes the root ready, which will run it.
bool Worker::borrow() {
  // The root of a thread that runs several workers is never waiting.
  if (!is_seeker_ || root_.state != FiberState::waiting) return false;
  const std::uint32_t count = scheduler_.worker_count();
  const WorkerNodes& nodes = scheduler_.nodes();
  // The last lender may have more: first, unless others are nearer.
  const std::uint32_t first = nodes.are_known() ? index_ : lender_;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t index = i == 0 ? first : nodes.other(first, i, count);
    Worker& lender = scheduler_.worker(index);
    if (lender.box_.seems_empty()) continue;
    Burst* burst = lender.box_.claim();
    if (burst == nullptr) continue;
    perturb(id_, PerturbedPoint::borrow);
    lender_ = index;
    loan_ = burst;
    make_ready(root_);
    return true;
  }
  return false;
}

/// In traces only.
void Worker::record_loan(trace::Kind kind, const Fiber& fiber) {
  if (tracer_ == nullptr) return;
  tracer_->add(trace::Record::now(kind, trace::name_of(fiber.user), fiber.worker->index()));
}

/// On the root: runs the fiber until its next call of the library, then sends it home.
void Worker::run_borrowed(Burst& burst) {
  if (!scheduler_.worker(lender_).box_.seems_empty()) wake_seeker();
  burst.borrower = this;
  set_current_of(burst.fiber, this);
  borrowed_.store(&burst.fiber, std::memory_order_relaxed);
  record_loan(trace::Kind::borrow, burst.fiber);
  switch_to(burst.fiber);
  record_loan(trace::Kind::give_back, burst.fiber);
  borrowed_.store(nullptr, std::memory_order_relaxed);
  // Its registers are saved. After the call it belongs to its own worker.
  loan_ = nullptr;
  perturb(id_, PerturbedPoint::give_back);
  post(*burst.fiber.worker, burst);
}

/// On the borrower, in the fiber: returns on the fiber's own worker.
void Worker::go_home(Fiber& fiber) {
  fiber.state = FiberState::ready;
  switch_to(root_);
}

/// On the fiber's own worker.
void Worker::run_return(Worker& home, RemoteCall& call) {
  Burst& burst = static_cast<Burst&>(call);
  Fiber& fiber = burst.fiber;
  SORREL_ASSERT(fiber.worker == &home && fiber.state == FiberState::ready);
  burst.borrower = nullptr;
  set_current_of(fiber, &home);
  // First: its call is short, and others may wait for what it sends.
  home.ready_.push_first(fiber);
}

/// Wakes a worker that sleeps and would run a fiber from the box.
void Worker::wake_seeker() {
  const std::uint32_t count = scheduler_.worker_count();
  for (std::uint32_t i = 1; i < count; ++i) {
    Worker& worker = scheduler_.worker(scheduler_.nodes().other(index_, i, count));
    if (worker.seeks_loans_.load(std::memory_order_relaxed) && worker.seems_asleep() &&
        worker.wake())
      return;
  }
}

void Worker::begin_to_seek() {
  if (is_seeker_ || !has_loans_ || balance_stage() == BalanceStage::postponed) return;
  is_seeker_ = true;
  seeks_loans_.store(true, std::memory_order_relaxed);
  begin_slow_ends();
}

void Worker::end_seeking() {
  is_seeker_ = false;
  seeks_loans_.store(false, std::memory_order_relaxed);
  end_slow_ends();
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
