#include "core/worker.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <limits>
#include <sched.h>

#include "arch/cpu.hpp"
#include "core/scheduler.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"

namespace sorrel::core {

namespace {

// Initial-exec: our library is there from the start, and a fiber's own control block holds the
// variable at the same place.
[[gnu::tls_model("initial-exec")]] thread_local Worker* current_worker = nullptr;

// Spinning shorter than this is over before a sleep would have begun.
constexpr std::int64_t spin_ns_min = 2'000;
// Records taken from one mailbox before the others are looked at.
constexpr int drain_count_max = 64;

/// The calling thread's exception state, if the process has a C++ library.
ExceptionState* exception_state_of_thread() {
  using GetGlobals = ExceptionState* (*)();
  // The C++ library of the user's program, not the one inside ours: that is whose exceptions cross
  // a switch.
  auto get_globals = reinterpret_cast<GetGlobals>(dlsym(RTLD_DEFAULT, "__cxa_get_globals"));
  return get_globals == nullptr ? nullptr : get_globals();
}

Record record_of(Notice& notice) {
  Record record{.kind = notice_kind};
  Notice* pointer = &notice;
  std::memcpy(record.words.data(), &pointer, sizeof pointer);
  return record;
}

}  // namespace

void run_notice(Worker& receiver, const Record& record, const std::byte* /*payload*/) {
  Notice* notice = nullptr;
  std::memcpy(&notice, record.words.data(), sizeof notice);
  notice->run(receiver, *notice);
}

Worker* Worker::current() {
  return current_worker;
}

void* Worker::current_user() {
  const Worker* worker = current_worker;
  return worker == nullptr ? nullptr : worker->running_->user;
}

void Worker::set_current(Worker* worker) {
  current_worker = worker;
}

Worker::Worker(Scheduler& scheduler,
               std::uint32_t index,
               std::uint32_t place,
               JobMemory& memory,
               const WorkerLimits& limits,
               std::optional<std::uint64_t> seed)
    : scheduler_(scheduler),
      memory_(memory),
      index_(index),
      place_(place),
      futex_scope_(memory.is_shared() ? os::FutexScope::shared : os::FutexScope::process),
      limits_(limits),
      board_(memory.board(place)),
      runners_(scheduler.runners_.data()),
      outbound_(memory.shape().place_count()),
      is_seeded_(seed ? 1 : 0),
      spin_ns_(limits.spin_ns_max),
      pool_(limits.pool_bytes_max),
      order_(seed) {
  root_.worker = this;
  running_ = &root_;
}

Worker::~Worker() = default;

void Worker::start(
    Fiber& fiber, void* stack_bottom, std::size_t stack_bytes, FiberEntry entry, void* argument) {
  fiber.worker = this;
  fiber.entry = entry;
  fiber.argument = argument;
  fiber.context = arch::make_context(stack_bottom, stack_bytes, enter_fiber, &fiber);
  fiber.sanitizer.create(stack_bottom, stack_bytes);
  make_ready(fiber);
}

void Worker::enter_fiber(void* argument) {
  auto& fiber = *static_cast<Fiber*>(argument);
  fiber.sanitizer.after_switch();
  fiber.entry(fiber.argument);
  fiber.worker->end_fiber();
}

void Worker::switch_to(Fiber& next, bool ends) {
  Fiber& previous = *running_;
  previous.saved_errno = *errno_;
  previous.saved_exceptions = *exceptions_;
  running_ = &next;
  next.state = FiberState::running;
  // The next one's state is put in place before the registers are switched, so that nothing is left
  // to do afterwards.
  *errno_ = next.saved_errno;
  *exceptions_ = next.saved_exceptions;
  if (next.thread_pointer != previous.thread_pointer) [[unlikely]]
    arch::set_thread_pointer(next.thread_pointer != 0 ? next.thread_pointer : thread_pointer_);
  previous.sanitizer.before_switch_to(next.sanitizer, ends);
  arch::sorrel_switch_context(&previous.context, next.context);
  previous.sanitizer.after_switch();
}

void Worker::yield() {
  poll();
  Fiber* next = ready_.pop();
  if (next == nullptr) return;
  running_->state = FiberState::ready;
  ready_.push(*running_);
  switch_to(*next);
}

void Worker::suspend() {
  running_->state = FiberState::waiting;
  Fiber& next = next_ready();
  if (&next == running_) {
    next.state = FiberState::running;
  } else {
    switch_to(next);
  }
}

void Worker::sleep(std::int64_t duration_ns) {
  struct Sleep : Timer {
    Fiber* fiber;
  } sleep;

  sleep.due_ns = now_ns() + duration_ns;
  sleep.fiber = running_;
  sleep.run = [](Worker& worker, Timer& timer) {
    worker.make_ready(*static_cast<Sleep&>(timer).fiber);
  };
  add_timer(sleep);
  suspend();
}

void Worker::end_fiber() {
  running_->state = FiberState::ended;
  scheduler_.note_fiber_end();
  switch_to(next_ready(), true);
  __builtin_unreachable();
}

Fiber& Worker::next_ready() {
  poll();
  Fiber* next = ready_.pop();
  return next != nullptr ? *next : idle();
}

Fiber& Worker::idle() {
  // We run on the stack, and with the errno, of the fiber that suspended last; it may be the next
  // one, too.
  const int errno_of_fiber = errno;
  Fiber& found = is_seeded() ? idle_under_seed() : idle_in_real_time();
  errno = errno_of_fiber;
  return found;
}

Fiber& Worker::idle_in_real_time() {
  Fiber* found = nullptr;
  int yield_count = 0;
  while (!spin(found)) {
    if (yield_count < limits_.yield_count_max) {
      ++yield_count;
      sched_yield();
      // Others have had the core, and its cache: all first records are asked for at once, not one
      // after the other.
      for (const Mailbox* mailbox : inbound_)
        mailbox->fetch_record();
      continue;
    }
    // A look that has found nothing is no reason to spin.
    while (park() == Slept::until_look && !poll_for_ready()) {
    }
  }
  return *found;
}

/// Nothing comes from outside, so there is nothing to wait for: time passes at once.
Fiber& Worker::idle_under_seed() {
  for (;;) {
    if (!poll()) ask_idle_source(false);
    if (Fiber* found = ready_.pop()) return *found;
    if (scheduler_.is_stopping()) return root_;
    if (timers_.empty()) {
      park();
    } else {
      order_->jump_to(timers_.next_due_ns());
    }
  }
}

/// Looks for work for spin_ns_; true when there is some (or the end).
bool Worker::spin(Fiber*& found) {
  // The clock is read every so many rounds only: a reading costs as much as several looks.
  constexpr int rounds_per_reading = 64;
  // Asking each time would make messages wait, and take the loops' lines from their callers.
  constexpr int rounds_per_ask = 8;
  std::int64_t give_up_ns = 0;
  for (int round = 1;; ++round) {
    if (!poll() && round % rounds_per_ask == 0) ask_idle_source(false);
    found = ready_.pop();
    if (found != nullptr) {
      if (give_up_ns != 0) spin_ns_ = std::min(limits_.spin_ns_max, spin_ns_ + spin_ns_ / 8);
      return true;
    }
    if (scheduler_.is_stopping()) {
      found = &root_;
      return true;
    }
    // Who is waited for may need this very core.
    if (limits_.yield_count_max != 0) return false;
    // Looking all the time would keep taking the mailbox's line from the one who is to write it.
    arch::pause();
    if (round % rounds_per_reading != 0) continue;
    const std::int64_t now_ns = os::monotonic_ns();
    if (give_up_ns == 0) give_up_ns = now_ns + std::min(spin_ns_, scheduler_.spin_ns_max());
    if (now_ns >= give_up_ns) return false;
  }
}

/// Until when a sleep may last: the end of time, or a little before the next timer is due, because
/// a sleep takes longer than it should.
std::int64_t Worker::sleep_end_ns() const {
  if (timers_.empty()) return std::numeric_limits<std::int64_t>::max();
  return timers_.next_due_ns() - (timers_.next_is_look() ? 0 : scheduler_.spin_ns_max());
}

/// Sleeps until woken or until the next timer; see README.md, "Parking".
Worker::Slept Worker::park() {
  if (deferred_count_ != 0) {
    // A receiver whose mailbox is full will not wake us when there is room: look again soon.
    sched_yield();
    return Slept::no;
  }
  const std::int64_t began_ns = os::monotonic_ns();
  if (sleep_end_ns() <= began_ns) return Slept::no;
  Parker parker = memory_.parker(place_);
  parker.announce();
  if (attend() || !ready_.empty() || scheduler_.is_stopping() || ask_idle_source(true)) {
    parker.get_up();
    return Slept::no;
  }
  Slept slept = Slept::until_woken;
  std::atomic<std::uint32_t>& state = parker.state().std_atomic();
  if (timers_.has_only_looks()) {
    if (parker.count_in() == memory_.counted_together()) scheduler_.hooks_.on_all_asleep();
    slept = sleep_counted_in(parker);
    if (memory_.are_reports_wanted()) scheduler_.hooks_.on_report_wanted();
  } else {
    const std::int64_t timeout_ns = sleep_end_ns() - os::monotonic_ns();
    if (timeout_ns > 0) os::futex_wait(state, Parker::parked, timeout_ns, futex_scope_);
    parker.get_up();
  }
  // A sleep shorter than the longest spin was not worth it: spin longer next time; a long one: spin
  // less.
  const bool was_short = os::monotonic_ns() - began_ns < limits_.spin_ns_max;
  spin_ns_ = was_short ? limits_.spin_ns_max
                       : std::max(std::min(spin_ns_min, limits_.spin_ns_max), spin_ns_ / 2);
  return slept;
}

/// Until woken, or until the next look.
Worker::Slept Worker::sleep_counted_in(Parker& parker) {
  std::atomic<std::uint32_t>& state = parker.state().std_atomic();
  while (parker.is_parked()) {
    const std::int64_t timeout_ns =
        timers_.empty() ? -1 : std::max<std::int64_t>(sleep_end_ns() - os::monotonic_ns(), 0);
    if (timeout_ns == 0) {
      get_up();
      return Slept::until_look;
    }
    os::futex_wait(state, Parker::parked, timeout_ns, futex_scope_);
  }
  return Slept::until_woken;
}

/// Ends its own sleep. Counted in, so that it is done as a waker would: whoever is first, the count
/// agrees. The look acquires what a waker that was faster has done, (W).
void Worker::get_up() {
  parker().claim();
  SORREL_CHECK(!parker().is_parked());
}

/// Takes what has come; whether there is something to do.
bool Worker::poll_for_ready() {
  poll();
  return !ready_.empty() || scheduler_.is_stopping() || ask_idle_source(false);
}

bool Worker::ask_idle_source(bool is_about_to_sleep) {
  IdleSource* source = scheduler_.idle_source();
  return source != nullptr && source->on_idle(*this, is_about_to_sleep);
}

bool Worker::wake() {
  return wake_place(place_);
}

bool Worker::wake_place(std::uint32_t place) {
  Parker parker = memory_.parker(place);
  if (!parker.claim()) return false;
  os::futex_wake_one(parker.state().std_atomic(), futex_scope_);
  return true;
}

/// Everything poll() does, rare things included.
bool Worker::attend() {
  bool any = accept_new_mailboxes();
  for (Mailbox* mailbox : inbound_)
    any |= drain(*mailbox);
  if (deferred_count_ != 0) any |= flush_deferred();
  if (!timers_.empty()) any |= timers_.run_due(*this, now_ns()) != 0;
  if (is_seeded()) order_->choose(ready_);
  return any;
}

bool Worker::drain(Mailbox& mailbox) {
  const auto run = [this](const Record& record, const std::byte* payload) {
    SORREL_ASSERT(record.kind < record_kind_count);
    runners_[record.kind](*this, record, payload);
  };
  int count = 0;
  while (count < drain_count_max && mailbox.take(run))
    ++count;
  return count != 0;
}

bool Worker::accept_new_mailboxes() {
  if (board_.newly_opened.seems_empty()) return false;
  board_.newly_opened.take_all(
      [this](std::uint32_t from) -> IndexList::Link& { return memory_.link(from, place_); },
      [this](std::uint32_t from) {
        if (from == place_) {
          note_call();
        } else {
          inbound_.push_back(&memory_.mailbox(from, place_));
        }
      });
  return true;
}

void Worker::open_mailbox(Outbound& outbound, std::uint32_t place) {
  outbound.mailbox = &memory_.mailbox(place_, place);
  memory_.board(place).newly_opened.push(place_, memory_.link(place_, place));
}

bool Worker::try_post_to_place(std::uint32_t place, const Record& record, const void* payload) {
  SORREL_ASSERT(place != place_);
  Outbound& outbound = outbound_[place];
  if (outbound.mailbox == nullptr) [[unlikely]]
    open_mailbox(outbound, place);
  // Behind deferred notices nothing may overtake.
  if (outbound.deferred_first != nullptr || !outbound.mailbox->try_post(record, payload))
    return false;
  wake_place(place);
  return true;
}

void Worker::post(Worker& to, Notice& notice) {
  SORREL_ASSERT(&to != this);
  if (try_post(to, record_of(notice), nullptr)) return;
  Outbound& outbound = outbound_[to.place_];
  notice.next = nullptr;
  if (outbound.deferred_first == nullptr) {
    outbound.deferred_first = &notice;
  } else {
    outbound.deferred_last->next = &notice;
  }
  outbound.deferred_last = &notice;
  ++deferred_count_;
}

bool Worker::flush_deferred() {
  bool any = false;
  for (std::uint32_t to = 0; to < outbound_.size(); ++to) {
    Outbound& outbound = outbound_[to];
    while (outbound.deferred_first != nullptr) {
      Notice& notice = *outbound.deferred_first;
      // Read first: once posted, the notice belongs to the receiver.
      Notice* next = notice.next;
      if (!outbound.mailbox->try_post(record_of(notice), nullptr)) break;
      outbound.deferred_first = next;
      --deferred_count_;
      any = true;
      wake_place(to);
    }
  }
  return any;
}

void Worker::add_timer(Timer& timer) {
  timers_.add(timer);
}

void ThreadState::take_calling_thread() {
  errno_place = &errno;
  exceptions = exception_state_of_thread();
  if (exceptions == nullptr) exceptions = &no_exceptions;
  thread_pointer = arch::thread_pointer();
}

/// The calling thread runs this worker from here on, beginning outside of any fiber.
void Worker::enter(ThreadState& thread) {
  set_current(this);
  errno_ = thread.errno_place;
  exceptions_ = thread.exceptions;
  thread_pointer_ = thread.thread_pointer;
  running_ = &root_;
  root_.state = FiberState::running;
  root_.sanitizer.adopt_thread();
}

void Worker::begin(ThreadState& thread) {
  enter(thread);
  scheduler_.hooks_.on_worker_start(*this);
}

/// Runs fibers until somebody calls us away, or the scheduler stops.
void Worker::run_until_called(ThreadState& thread) {
  enter(thread);
  suspend();
}

/// Lets every fiber that is ready now run once; false when there was none.
bool Worker::run_round(ThreadState& thread) {
  enter(thread);
  poll();
  Fiber* first = ready_.pop();
  if (first == nullptr) return false;
  root_.state = FiberState::ready;
  ready_.push(root_);
  switch_to(*first);
  return true;
}

void Worker::end(ThreadState& thread) {
  enter(thread);
  scheduler_.hooks_.on_worker_end(*this);
  mark_gone();
  has_ended_ = true;
  set_current(nullptr);
}

/// The last look before its thread sleeps.
bool Worker::has_news() {
  return attend() || !ready_.empty() || deferred_count_ != 0;
}

/// Announced and without news: counts as asleep if nothing but another worker can wake it.
void Worker::lie_down() {
  if (!timers_.has_only_looks() || parker().count_in() != memory_.counted_together()) return;
  set_current(this);
  scheduler_.hooks_.on_all_asleep();
}

/// Its thread has been woken, perhaps for another worker's sake.
void Worker::rise() {
  if (timers_.has_only_looks()) {
    get_up();
  } else {
    parker().get_up();
  }
  if (memory_.are_reports_wanted()) {
    set_current(this);
    scheduler_.hooks_.on_report_wanted();
  }
}

void Worker::call_away() {
  // Acquire and release: who takes the call sees what it is about, also when an earlier one still
  // waits.
  if (!is_called_.exchange(true, std::memory_order_acq_rel))
    board_.newly_opened.push(place_, memory_.link(place_, place_));
  wake();
}

/// Lets the thread do what it must besides running fibers, after those that are ready.
void Worker::note_call() {
  is_called_.exchange(false, std::memory_order_acq_rel);
  if (root_.state == FiberState::waiting) make_ready(root_);
}

void Worker::adopt(Fiber& fiber) {
  adopted_.take_calling_thread();
  enter(adopted_);
  fiber.worker = this;
  fiber.state = FiberState::running;
  fiber.sanitizer.adopt_thread();
  running_ = &fiber;
}

void Worker::leave() {
  running_->state = FiberState::ended;
  scheduler_.hooks_.on_worker_end(*this);
  mark_gone();
  set_current(nullptr);
}

/// Tells the other processes that this worker sleeps for good. Others may be asleep and need to
/// hear that it was the last one awake (README.md, "Nobody is left").
void Worker::mark_gone() {
  if (memory_.is_shared()) memory_.mark_gone(place_);
}

}  // namespace sorrel::core
