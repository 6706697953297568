#include "core/worker.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <limits>
#include <new>
#include <utility>

#include "arch/cpu.hpp"
#include "arch/long_pause.hpp"
#include "core/cycle_clock.hpp"
#include "core/exception_state.hpp"
#include "core/later_balance.hpp"
#include "core/perturbation.hpp"
#include "core/scheduler.hpp"
#include "core/thread_block.hpp"
#include "os/clock.hpp"
#include "os/cpu_set.hpp"
#include "os/page_nodes.hpp"
#include "os/thread.hpp"

namespace sorrel::core {

namespace {

// Initial-exec: the library is loaded at start, and the control block of a fiber holds the variable
// at the same offset.
[[gnu::tls_model("initial-exec")]] thread_local Worker* current_worker = nullptr;

// Busy time of the fiber whose control block holds it. Relaxed: other threads read it to measure.
[[gnu::tls_model("initial-exec")]] thread_local std::atomic<std::uint64_t> busy_cycles = 0;

// A sleep until a timer ends so long before it is due, because sleeps take longer than requested.
constexpr std::int64_t timer_lead_ns_max = 50'000;

/// The variable `*of_thread` of the calling thread, in the control block of a fiber.
template <class T>
T* in_block_of(const Fiber& fiber, T* of_thread) {
  const auto here = reinterpret_cast<std::uintptr_t>(of_thread);
  return reinterpret_cast<T*>(here - arch::thread_pointer() + fiber.thread_pointer);
}

inline void switch_registers(Fiber& previous, Fiber& next, bool ends) {
  previous.sanitizer.before_switch_to(next.sanitizer, ends);
  arch::sorrel_switch_context(&previous.context, next.context);
  previous.sanitizer.after_switch();
}

Record record_of(RemoteCall& call) {
  Record record{.kind = remote_call_kind};
  RemoteCall* pointer = &call;
  std::memcpy(record.words.data(), &pointer, sizeof pointer);
  return record;
}

/// Not in a build that measures what the recording costs (SORREL_EVENTS).
#ifdef SORREL_WITHOUT_EVENTS
constexpr bool records_latest_events = false;
#else
constexpr bool records_latest_events = true;
#endif

inline trace::Record event_of(trace::Kind kind, const Fiber& fiber) {
  return {.time_and_kind = static_cast<std::uint64_t>(kind),
          .subject = trace::name_of(fiber.user),
          .first = trace::name_of(fiber.call),
          .second = trace::name_of(fiber.call_site)};
}

/// Reorders what has no order: the ready fibers, the mailboxes of different senders. And changes
/// the number of threads that run the workers.
inline void perturb_order(Worker& worker, FiberQueue& ready, std::vector<WorkerMailbox*>& inbound) {
  if constexpr (may_perturb) {
    Fiber* last = ready.first();
    for (std::uint32_t i = perturbed_index(worker.id(), 8); i != 0 && last != nullptr; --i)
      last = last->next_ready;
    if (last != nullptr && last->next_ready != nullptr) ready.rotate_behind(*last);
    const auto mailbox_count = static_cast<std::uint32_t>(inbound.size());
    if (mailbox_count > 1)
      std::ranges::rotate(inbound, inbound.begin() + perturbed_index(worker.id(), mailbox_count));
    Scheduler& scheduler = worker.scheduler();
    constexpr std::uint32_t rounds_per_width = 512;
    if (worker.index() == 0 && perturbed_index(worker.id(), rounds_per_width) == 1)
      scheduler.set_width(1 + perturbed_index(worker.id(), scheduler.worker_count()));
  }
}

}  // namespace

GetExceptionState find_exception_state() {
  return reinterpret_cast<GetExceptionState>(dlsym(RTLD_DEFAULT, "__cxa_get_globals"));
}

void run_remote_call(Worker& receiver, const Record& record, const std::byte* /*payload*/) {
  RemoteCall* call = nullptr;
  std::memcpy(&call, record.words.data(), sizeof call);
  call->run(receiver, *call);
}

Worker* Worker::current() {
  return current_worker;
}

void* Worker::user_of_running() {
  const Worker* worker = current_worker;
  return worker == nullptr ? nullptr : worker->running_->user;
}

void Worker::set_current(Worker* worker) {
  current_worker = worker;
}

void Worker::set_current_of(const Fiber& fiber, Worker* worker) {
  if (fiber.thread_pointer == 0) return;
  *in_block_of(fiber, &current_worker) = worker;
}

std::uint64_t Worker::busy_cycles_of(const Fiber& fiber) {
  if (fiber.thread_pointer == 0) return 0;
  return in_block_of(fiber, &busy_cycles)->load(std::memory_order_relaxed);
}

/// Adds what the running fiber has run to the counter in its control block, which is the thread's
/// at this moment.
void Worker::charge_running() {
  const std::uint64_t now = arch::cycles();
  busy_cycles.store(busy_cycles.load(std::memory_order_relaxed) + (now - uncounted_since_),
                    std::memory_order_relaxed);
  uncounted_since_ = now;
}

void Worker::adopt(Fiber& fiber) {
  SORREL_ASSERT(fiber.state == FiberState::waiting && fiber.worker != this);
  SORREL_ASSERT(fiber.worker->running_ == &fiber.worker->root_,
                "a worker idles on the stack of a fiber that leaves it");
  fiber.worker = this;
  set_current_of(fiber, this);
}

/// While all workers are stopped: whether nothing is on its way to it or from it.
bool Worker::is_quiet() const {
  return is_quiet_inside() && control_.newly_opened.seems_empty() &&
         std::ranges::none_of(inbound_,
                              [](const WorkerMailbox* from) { return from->has_record(); });
}

/// The part of is_quiet() that concerns the workers of this process.
bool Worker::is_quiet_inside() const {
  return deferred_count_ == 0 && first_offer_ == nullptr && box_.seems_empty() &&
         loan_ == nullptr && !seems_to_have_mail();
}

Worker::Worker(Scheduler& scheduler,
               std::uint32_t index,
               WorkerId worker,
               JobMemory& memory,
               const WorkerLimits& limits,
               std::optional<std::uint64_t> seed)
    : scheduler_(scheduler),
      memory_(memory),
      index_(index),
      id_(worker),
      futex_scope_(memory.is_shared() ? os::FutexScope::shared : os::FutexScope::process),
      limits_(limits),
      has_loans_(scheduler.lends_fibers()),
      control_(memory.control(worker)),
      runners_(scheduler.runners_.data()),
      outbound_(memory.shape().worker_count()),
      rare_states_((seed ? seeded : 0U) | (scheduler.measures_fibers() ? measured : 0U)),
      pool_(limits.pool_bytes_max),
      order_(seed) {
  root_.worker = this;
  running_ = &root_;
}

Worker::~Worker() {
  if (is_seeker_) end_seeking();
}

/// Before its thread starts: another one has made it, and so touched its pages first.
void Worker::move_memory_to(int node) const {
  const auto move = [node](const void* begin, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    os::move_pages_to(node, {address, address + bytes});
  };
  move(this, sizeof *this);
  move(outbound_.data(), outbound_.size() * sizeof(Outbound));
}

/// The thread whose times are recorded, from time to time.
struct Worker::TracedThread {
  static constexpr std::int64_t period_ns = 10'000'000;

  /// 0: none yet.
  int number = 0;
  std::optional<os::SchedStat> times;
  std::uint64_t recorded_at = 0;
  std::uint64_t period = CycleClock().cycles_in(period_ns);
};

void Worker::set_tracer(trace::Tracer* tracer) {
  if (tracer == nullptr && tracer_ != nullptr) record_thread();
  tracer_ = tracer;
  traced_thread_ = tracer == nullptr ? nullptr : std::make_unique<TracedThread>();
}

/// With the time, whose reading takes a quarter of the time of a short message. Out of line: its
/// registers would be saved at every yield.
[[gnu::noinline, gnu::cold]] void Worker::add_traced(trace::Kind kind, const Fiber& fiber) {
  trace::Record record = event_of(kind, fiber);
  const std::uint64_t now = arch::cycles();
  record.set_time(now);
  tracer_->add_named(record);
  events_.add(record);
  const TracedThread& thread = *traced_thread_;
  if (now - thread.recorded_at >= thread.period || thread.number != thread_number())
    record_thread();
}

/// The time since the last switch was without a thread: the worker's own has run other workers, or
/// has waited for a stop.
void Worker::record_resume() {
  if (tracer_ != nullptr) [[unlikely]]
    tracer_->add(trace::Record::now(trace::Kind::resume, 0));
}

/// The kernel's accounting of the thread that runs the worker. Some kernels have none.
void Worker::record_thread() {
  TracedThread& thread = *traced_thread_;
  const int number = thread_number();
  if (number == 0) return;
  if (thread.number != number) thread.times.emplace(number);
  thread.number = number;
  thread.recorded_at = arch::cycles();
  const std::optional<os::RunTimes> times = thread.times->read();
  if (!times) return;
  tracer_->add(trace::ThreadRecord{.number = static_cast<std::uint32_t>(number),
                                   .slice_count = static_cast<std::uint32_t>(times->slice_count),
                                   .run_ns = times->run_ns,
                                   .delay_ns = times->delay_ns}
                   .as_record());
}

/// What a fiber calls when it first runs.
struct Worker::FiberStart {
  Fiber& fiber;
  FiberEntry entry;
  void* argument;
};

void Worker::prepare(
    Fiber& fiber, void* stack_bottom, std::size_t stack_bytes, FiberEntry entry, void* argument) {
  fiber.worker = this;
  // On the stack, since the record of a fiber is read at every switch.
  std::byte* top = static_cast<std::byte*>(stack_bottom) + stack_bytes - sizeof(FiberStart);
  top -= reinterpret_cast<std::uintptr_t>(top) % alignof(FiberStart);
  auto* start = new (top) FiberStart{.fiber = fiber, .entry = entry, .argument = argument};
  const auto bytes_below = static_cast<std::size_t>(top - static_cast<std::byte*>(stack_bottom));
  fiber.context = arch::make_context(stack_bottom, bytes_below, enter_fiber, start);
  fiber.sanitizer.create(stack_bottom, stack_bytes);
}

inline void Worker::record(trace::Kind kind, const Fiber& fiber) {
  if (tracer_ != nullptr) [[unlikely]] {
    add_traced(kind, fiber);
  } else if constexpr (records_latest_events) {
    events_.add(event_of(kind, fiber));
  }
}

/// The running fiber waits from now on, or has ended.
inline void Worker::record_wait(trace::Kind wait, trace::Kind end) {
  record(running_->state == FiberState::ended ? end : wait, *running_);
}

/// The running fiber is ready, and another one is about to run.
inline void Worker::record_yield() {
  if (tracer_ != nullptr) [[unlikely]]
    record(trace::Kind::yield, *running_);
}

void Worker::run_at_once(Fiber& fiber) {
  SORREL_ASSERT(fiber.state == FiberState::waiting && fiber.worker == this);
  if (running_->is_guest) {
    // Its thread runs no fibers.
    make_ready(fiber);
    return;
  }
  running_->state = FiberState::ready;
  ready_.push(*running_);
  record_yield();
  switch_to(fiber);
}

void Worker::enter_fiber(void* argument) {
  const FiberStart start = *static_cast<const FiberStart*>(argument);
  start.fiber.sanitizer.after_switch();
  start.entry(start.argument);
  start.fiber.worker->end_fiber();
}

void Worker::switch_to(Fiber& next, bool ends) {
  Fiber& previous = *running_;
  if (next.settings != previous.settings) [[unlikely]] {
    switch_with_settings(next, ends);
    return;
  }
  exchange_thread_state(previous, next);
  switch_registers(previous, next, ends);
}

/// Makes `next` the running fiber. Its state is set before the registers are switched, so nothing
/// is left to do afterwards.
inline void Worker::exchange_thread_state(Fiber& previous, Fiber& next) {
  int* const error = errno_;
  ExceptionState* const exceptions = exceptions_;
  previous.saved_errno = *error;
  previous.saved_exceptions = *exceptions;
  running_ = &next;
  next.state = FiberState::running;
  *error = next.saved_errno;
  *exceptions = next.saved_exceptions;
  if (next.thread_pointer != previous.thread_pointer) [[unlikely]] {
    if ((rare_states_ & measured) != 0) charge_running();
    arch::set_thread_pointer(next.thread_pointer != 0 ? next.thread_pointer : thread_pointer_);
  }
}

/// Out of line, so that a switch without a change of settings ends in a jump and needs no frame.
[[gnu::noinline]] void Worker::switch_with_settings(Fiber& next, bool ends) {
  Fiber& previous = *running_;
  if (previous.is_guest) {
    ready_.push_first(next);
    wait_as_guest();
    return;
  }
  Fiber* to = &next;
  while (to->is_guest) {
    grant(*to);
    to = &next_ready();
    if (to == &previous) {
      previous.state = FiberState::running;
      return;
    }
  }
  exchange_thread_state(previous, *to);
  if (to->settings != previous.settings) scheduler_.hooks_.on_settings_change(*this, *to);
  switch_registers(previous, *to, ends);
}

void Worker::yield() {
  poll();
  Fiber* next = ready_.pop();
  if (next == nullptr) return;
  running_->state = FiberState::ready;
  ready_.push(*running_);
  record_yield();
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

void Worker::sleep(Sleep& sleep, std::int64_t duration_ns) {
  sleep.due_ns = now_ns() + duration_ns;
  sleep.fiber = running_;
  sleep.run = [](Worker& worker, Timer& timer) {
    worker.make_ready(*static_cast<Sleep&>(timer).fiber);
  };
  add_timer(sleep);
  suspend();
}

void Worker::end_sleep(Sleep& sleep) {
  timers_.remove(sleep);
  make_ready(*sleep.fiber);
}

/// A call on the stack of a fiber that waits: a fiber of its own that lives below the other's
/// frames.
struct Worker::Visit {
  Fiber fiber;
  Fiber& interrupted;
  FiberEntry entry;
  void* argument;
};

void Worker::enter_visit(void* argument) {
  Visit& visit = *static_cast<Visit*>(argument);
  visit.fiber.sanitizer.after_switch();
  visit.entry(visit.argument);
  visit.fiber.worker->switch_to(visit.interrupted);
}

void Worker::visit(Fiber& fiber, FiberEntry entry, void* argument) {
  SORREL_ASSERT(fiber.state == FiberState::waiting && fiber.worker == this);
  // The idle loop runs on its stack, below all of its frames.
  if (&fiber == running_) {
    entry(argument);
    return;
  }
  // make_context() looks at the upper end only.
  constexpr std::size_t nominal_bytes = 4096;
  std::byte* top = static_cast<std::byte*>(fiber.context);
  Fiber& interrupted = *running_;
  const FiberState state = interrupted.state;
  Visit visit{.fiber = {}, .interrupted = interrupted, .entry = entry, .argument = argument};
  visit.fiber.worker = this;
  visit.fiber.user = fiber.user;
  visit.fiber.pin_count = 1;
  visit.fiber.thread_pointer = fiber.thread_pointer;
  visit.fiber.settings = fiber.settings;
  visit.fiber.saved_errno = fiber.saved_errno;
  visit.fiber.saved_exceptions = fiber.saved_exceptions;
  visit.fiber.sanitizer = fiber.sanitizer;
  visit.fiber.context = arch::make_context(top - nominal_bytes, nominal_bytes, enter_visit, &visit);
  switch_to(visit.fiber);
  interrupted.state = state;
}

void Worker::end_fiber() {
  running_->state = FiberState::ended;
  scheduler_.note_fiber_end();
  switch_to(next_ready(), true);
  __builtin_unreachable();
}

Fiber& Worker::next_ready() {
  perturb_order(*this, ready_, inbound_);
  poll();
  Fiber* next = ready_.pop();
  if (next == nullptr) return idle();
  record_wait(trace::Kind::wait, trace::Kind::end);
  return *next;
}

Fiber& Worker::idle() {
  // This runs on the stack, and with the errno, of the fiber that suspended last; that fiber may
  // also be the next one.
  const int errno_of_fiber = errno;
  record_wait(trace::Kind::wait_then_idle, trace::Kind::end_then_idle);
  if (running_->is_guest) {
    wait_as_guest();
    errno = errno_of_fiber;
    return *running_;
  }
  Fiber& found = (rare_states_ & (seeded | measured)) != 0 ? idle_measured() : idle_in_real_time();
  record(trace::Kind::wake, found);
  errno = errno_of_fiber;
  return found;
}

/// idle(), where it matters that the fiber on whose stack this runs does not.
Fiber& Worker::idle_measured() {
  if (is_seeded()) return idle_under_seed();
  charge_running();
  Fiber& found = idle_in_real_time();
  uncounted_since_ = arch::cycles();
  return found;
}

Fiber& Worker::idle_in_real_time() {
  Fiber* found = nullptr;
  std::int64_t began_ns = 0;
  int yield_count = 0;
  while (!spin(found, began_ns)) {
    if (yield_count < limits_.yield_count_max && os::try_to_yield_core(yield_limit_)) {
      ++yield_count;
      // Other threads have used the core and its cache: prefetch all first records at once, instead
      // of one after the other.
      for (const WorkerMailbox* mailbox : inbound_)
        mailbox->fetch_record();
      continue;
    }
    // After an unsuccessful poll, sleep again instead of spinning.
    while (park() == Slept::until_poll && !poll_for_ready()) {
    }
  }
  last_wait_ns_ = began_ns == 0 ? 0 : os::monotonic_ns() - began_ns;
  return *found;
}

/// Nothing arrives from outside, so there is nothing to wait for: virtual time jumps.
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

/// End of a spin that begins now. A fiber's sleep that ends soon is not spent polling: programs
/// that sleep for a millisecond again and again would use a core.
std::int64_t Worker::spin_end_ns(std::int64_t now_ns) const {
  const std::int64_t most_ns = scheduler_.spin_ns_max();
  const bool is_due_soon =
      !timers_.empty() && !timers_.next_is_poll() && timers_.next_due_ns() - now_ns < most_ns;
  return now_ns + poll_limit(is_due_soon ? most_ns : last_wait_ns_, most_ns, brief_poll_ns);
}

/// In a poll that has lasted for a while: whether threads of this process wait for their cores.
void Worker::record_core_loss(std::int64_t now_ns) {
  const bool is_lost = core_watch_.read(last_thread_number_, now_ns);
  if (is_lost && index_ < scheduler_.bindings_.size()) scheduler_.bindings_[index_].release();
  observe_bindings(now_ns);
}

/// Where threads are bound, and this one waits for another: perhaps that one waits for its core.
void Worker::observe_bindings(std::int64_t now_ns) {
  std::vector<Binding>& bindings = scheduler_.bindings_;
  if (index_ >= bindings.size()) return;
  bindings[index_].update(now_ns);
  if (!binding_watch_) binding_watch_.emplace(static_cast<std::uint32_t>(bindings.size()));
  if (!binding_watch_->is_due(now_ns)) return;
  const std::uint32_t other = binding_watch_->next(now_ns);
  if (other != index_) binding_watch_->observe(other, bindings[other]);
}

namespace {

/// The times of one spin.
struct SpinTimes {
  std::int64_t began_ns = 0;  ///< 0: the clock has not been read
  std::int64_t give_up_ns = 0;
  bool has_lasted_long = false;

  /// At the first reading of the clock. `wait_began_ns` is set at the first one of the wait.
  void begin(std::int64_t now_ns, std::int64_t end_ns, std::int64_t& wait_began_ns) {
    began_ns = now_ns;
    give_up_ns = end_ns;
    if (wait_began_ns == 0) wait_began_ns = now_ns;
  }

  /// Polling without a pause would keep taking the mailbox's line from the producer.
  void pause() const {
    if (has_lasted_long) {
      arch::long_pause();
    } else {
      arch::pause();
    }
  }

  /// Whether the spin has become a long one, at the first reading that finds it so.
  bool has_become_long(std::int64_t now_ns) {
    if (has_lasted_long || now_ns - began_ns <= brief_poll_ns) return false;
    has_lasted_long = true;
    return true;
  }
};

}  // namespace

/// Polls until spin_end_ns(); returns true if there is a ready fiber (or the end). `began_ns`: of
/// the wait, set at the first reading of the clock.
bool Worker::spin(Fiber*& found, std::int64_t& began_ns) {
  // The clock is read every so many rounds only: a reading takes as long as several polls.
  constexpr int rounds_per_reading = 64;
  // To ask in each round would delay messages, and take the cache lines of loops from their
  // callers.
  constexpr int rounds_per_ask = 8;
  // About 10 us. Workers that wait for each other's messages find one earlier.
  constexpr int rounds_before_seeking = 4 * rounds_per_reading;
  SpinTimes times;
  Flow flow = Flow::single;
  perturb(id_, PerturbedPoint::spin);
  if (perturbs_choice(id_)) return false;
  for (int round = 1;; ++round) {
    // One record: the fiber for which the worker waits goes on at once. To look for a second record
    // would fetch a cache line from the sender first.
    const bool any = poll(1, flow);
    if (!any && round % rounds_per_ask == 0 && !ask_idle_source(false)) borrow();
    found = ready_.pop();
    if (found != nullptr) return true;
    if (scheduler_.is_stopping()) {
      found = &root_;
      return true;
    }
    if (any) {
      // A record that makes no fiber ready is one of several that a fiber waits for.
      flow = Flow::stream;
      continue;
    }
    // The awaited thread may need this core, or the seat.
    if (limits_.yield_count_max != 0 || has_guests_) return false;
    times.pause();
    if (round % rounds_per_reading != 0) continue;
    const std::int64_t now_ns = os::monotonic_ns();
    if (times.began_ns == 0) times.begin(now_ns, spin_end_ns(now_ns), began_ns);
    if (round >= rounds_before_seeking) begin_to_seek();
    if (times.has_become_long(now_ns)) record_core_loss(now_ns);
    if (now_ns >= times.give_up_ns || core_watch_.is_recent(now_ns)) return false;
  }
}

/// End of a sleep: never, or a little before the next timer is due, because a sleep takes longer
/// than requested.
std::int64_t Worker::sleep_end_ns() const {
  if (timers_.empty()) return std::numeric_limits<std::int64_t>::max();
  const std::int64_t lead_ns = std::min(scheduler_.spin_ns_max(), timer_lead_ns_max);
  return timers_.next_due_ns() - (timers_.next_is_poll() ? 0 : lead_ns);
}

/// With deferred calls: a receiver whose mailbox is full does not wake this worker when there is
/// room.
void Worker::retry_soon() {
  constexpr std::int64_t sleep_ns = 50'000;
  give_seat();
  if (!os::try_to_yield_core(yield_limit_)) {
    Parker parker = this->parker();
    parker.prepare_park();
    // A record that has come before is not seen: hence no longer.
    os::futex_wait(parker.state().std_atomic(), Parker::State::parked, sleep_ns, futex_scope_);
    parker.cancel_park();
  }
  take_seat();
}

/// Sleeps until woken or until the next timer; see README.md, "Parking".
Worker::Slept Worker::park() {
  if (deferred_count_ != 0) {
    retry_soon();
    return Slept::no;
  }
  if (has_guests_) return park_beside_guests();
  const std::int64_t now_ns = os::monotonic_ns();
  if (sleep_end_ns() <= now_ns) return Slept::no;
  observe_bindings(now_ns);
  begin_to_seek();
  Parker parker = memory_.parker(id_);
  parker.prepare_park();
  perturb(id_, PerturbedPoint::park);
  if (poll_all() || !ready_.empty() || scheduler_.is_stopping() || ask_idle_source(true) ||
      borrow()) {
    parker.cancel_park();
    return Slept::no;
  }
  ++park_count_;
  perturb(id_, PerturbedPoint::sleep);
  if (tracer_ != nullptr) tracer_->add(trace::Record::now(trace::Kind::park, 0));
  Slept slept = Slept::until_woken;
  std::atomic<std::uint32_t>& state = parker.state().std_atomic();
  if (timers_.has_only_polls()) {
    if (parker.mark_idle() == memory_.idle_count_max()) scheduler_.hooks_.on_all_asleep();
    slept = sleep_idle(parker);
    if (memory_.are_reports_requested()) scheduler_.hooks_.on_report_requested();
  } else {
    const std::int64_t timeout_ns = sleep_end_ns() - os::monotonic_ns();
    if (timeout_ns > 0) os::futex_wait(state, Parker::State::parked, timeout_ns, futex_scope_);
    parker.cancel_park();
  }
  perturb(id_, PerturbedPoint::rise);
  return slept;
}

/// Sleeps without the seat, until woken or until the next timer.
Worker::Slept Worker::park_beside_guests() {
  const std::int64_t end_ns = sleep_end_ns();
  if (end_ns <= os::monotonic_ns()) return Slept::no;
  Parker parker = this->parker();
  parker.prepare_park();
  perturb(id_, PerturbedPoint::park);
  if (has_work() || scheduler_.is_stopping() || ask_idle_source(true)) {
    parker.cancel_park();
    return Slept::no;
  }
  mark_idle();
  parked_until_ns_ = end_ns;
  const std::int64_t timeout_ns = idle_sleep_end_ns(end_ns) - os::monotonic_ns();
  give_seat();
  perturb(id_, PerturbedPoint::sleep);
  if (parker.is_parked() && timeout_ns > 0)
    os::futex_wait(parker.state().std_atomic(), Parker::State::parked, timeout_ns, futex_scope_);
  perturb(id_, PerturbedPoint::rise);
  end_park();
  take_seat();
  parked_until_ns_ = 0;
  return Slept::until_woken;
}

/// Sleeps until unparked, or until the next poll timer.
Worker::Slept Worker::sleep_idle(Parker& parker) {
  std::atomic<std::uint32_t>& state = parker.state().std_atomic();
  while (parker.is_parked()) {
    const std::int64_t timeout_ns =
        timers_.empty() ? -1 : std::max<std::int64_t>(sleep_end_ns() - os::monotonic_ns(), 0);
    if (timeout_ns == 0) {
      cancel_park();
      return Slept::until_poll;
    }
    os::futex_wait(state, Parker::State::parked, timeout_ns, futex_scope_);
  }
  return Slept::until_woken;
}

/// Ends its own sleep while counted as idle. Uses try_unpark() like a waker, so the count is right
/// whichever is first. Its load acquires the effects of a faster waker, (W).
void Worker::cancel_park() {
  parker().try_unpark();
  SORREL_CHECK(!parker().is_parked());
}

/// Polls; returns whether there is work.
bool Worker::poll_for_ready() {
  poll();
  return !ready_.empty() || scheduler_.is_stopping() || ask_idle_source(false) || borrow();
}

bool Worker::ask_idle_source(bool is_about_to_sleep) {
  IdleSource* source = scheduler_.idle_source();
  return source != nullptr && source->on_idle(*this, is_about_to_sleep);
}

bool Worker::wake() {
  return wake_worker(id_);
}

// The consumer, which alone writes what this reads, is not in poll(): else the answer is a guess.
[[gnu::no_sanitize("thread")]] bool Worker::seems_to_have_mail() const {
  const std::uint32_t worker_count = memory_.shape().workers_per_process;
  const WorkerId first = id_ - index_;
  for (WorkerId from = first; from < first + worker_count; ++from) {
    if (from != id_ && memory_.mailbox(from, id_).has_record()) return true;
  }
  return false;
}

bool Worker::wake_worker(WorkerId worker) {
  perturb(id_, PerturbedPoint::post);
  Parker parker = memory_.parker(worker);
  if (!parker.try_unpark()) return false;
  perturb(id_, PerturbedPoint::wake);
  os::futex_wake_one(parker.state().std_atomic(), futex_scope_);
  return true;
}

/// All of poll(), the rare parts included.
bool Worker::poll_all() {
  bool any = accept_new_mailboxes();
  for (WorkerMailbox* mailbox : inbound_)
    any |= drain(*mailbox);
  if (deferred_count_ != 0) any |= flush_deferred();
  if (!timers_.empty()) any |= timers_.run_due(*this, now_ns()) != 0;
  if ((rare_states_ & has_offers) != 0) any |= take_back_if_due();
  if (is_seeded()) order_->choose(ready_);
  return any;
}

bool Worker::drain(WorkerMailbox& mailbox, int count_max, Flow flow) {
  const auto run = [this](const Record& record, const std::byte* payload) {
    SORREL_ASSERT(record.kind < record_kind_count);
    runners_[record.kind](*this, record, payload);
  };
  perturb(id_, PerturbedPoint::take);
  if (perturbs_choice(id_)) count_max = 1;
  int count = 0;
  while (count < count_max && mailbox.take(run, count == 0 ? flow : Flow::stream))
    ++count;
  return count != 0;
}

bool Worker::accept_new_mailboxes() {
  if (control_.newly_opened.seems_empty()) return false;
  control_.newly_opened.take_all(
      [this](std::uint32_t from) -> IndexList::Link& { return memory_.link(from, id_); },
      [this](std::uint32_t from) {
        if (from == id_) {
          handle_attention();
        } else {
          WorkerMailbox* mailbox = &memory_.mailbox(from, id_);
          // Where measurements select it, all senders have the same one.
          if (std::ranges::find(inbound_, mailbox) == inbound_.end()) inbound_.push_back(mailbox);
        }
      });
  return true;
}

void Worker::open_mailbox(Outbound& outbound, WorkerId worker) {
  outbound.mailbox = &memory_.mailbox(id_, worker);
  memory_.control(worker).newly_opened.push(id_, memory_.link(id_, worker));
}

void Worker::post(Worker& to, RemoteCall& call) {
  SORREL_ASSERT(&to != this);
  // A mailbox that is open counts as full.
  const bool is_refused = perturbs_choice(id_) && outbound_[to.id_].mailbox != nullptr;
  if (!is_refused && try_post(to, record_of(call), nullptr)) return;
  Outbound& outbound = outbound_[to.id_];
  call.next = nullptr;
  if (outbound.deferred_first == nullptr) {
    outbound.deferred_first = &call;
  } else {
    outbound.deferred_last->next = &call;
  }
  outbound.deferred_last = &call;
  ++deferred_count_;
}

bool Worker::flush_deferred() {
  bool any = false;
  for (std::uint32_t to = 0; to < outbound_.size(); ++to) {
    Outbound& outbound = outbound_[to];
    while (outbound.deferred_first != nullptr) {
      RemoteCall& call = *outbound.deferred_first;
      // Read first: once posted, the call belongs to the receiver.
      RemoteCall* next = call.next;
      if (!outbound.mailbox->try_post(record_of(call), nullptr)) break;
      outbound.deferred_first = next;
      --deferred_count_;
      any = true;
      wake_worker(to);
    }
  }
  return any;
}

void Worker::add_timer(Timer& timer) {
  timers_.add(timer);
}

void ThreadState::take_calling_thread() {
  errno_address = &errno;
  const GetExceptionState get_state = find_exception_state();
  exceptions = get_state != nullptr ? get_state() : &no_exceptions;
  thread_pointer = arch::thread_pointer();
  number = os::thread_number();
}

/// The calling thread runs this worker from now on, starting outside any fiber.
void Worker::enter(ThreadState& thread) {
  set_current(this);
  take_seat();
  // The block of the first thread stays that of the fibers (thread_block.hpp).
  if (!are_blocks_exchanged || thread_pointer_ == 0) {
    errno_ = thread.errno_address;
    exceptions_ = thread.exceptions;
    thread_pointer_ = thread.thread_pointer;
  }
  thread_number_.store(thread.number, std::memory_order_relaxed);
  if (thread.number != last_thread_number_) {
    if (last_thread_number_ != 0) ++migration_count_;
    last_thread_number_ = thread.number;
  }
  running_ = &root_;
  root_.state = FiberState::running;
  if (balance_stage() == BalanceStage::measuring) rare_states_ |= measured;
  if ((rare_states_ & measured) != 0) uncounted_since_ = arch::cycles();
  root_.sanitizer.adopt_thread();
}

void Worker::begin(ThreadState& thread) {
  enter(thread);
  scheduler_.hooks_.on_worker_start(*this);
}

/// Runs fibers until a migration is requested or the scheduler stops.
void Worker::run_until_attention(ThreadState& thread) {
  if (!is_held()) {
    enter(thread);
    record_resume();
    suspend();
    while (loan_ != nullptr) {
      run_borrowed(*loan_);
      // The root may have been made ready for both reasons.
      if (has_attention_) break;
      suspend();
    }
    arrive_at_stop();
    has_attention_ = false;
    // Perhaps the last turn on this thread.
    if (tracer_ != nullptr) record_thread();
  }
  if (is_held()) scheduler_.wait_for_stop(*held_by_);
  leave_stop();
}

/// Runs every fiber that is ready now once; returns false if there was none. A worker that is held
/// by a stop runs none, and keeps its thread awake.
bool Worker::run_round(ThreadState& thread) {
  if (is_held()) {
    if (scheduler_.is_stop_over(*held_by_)) leave_stop();
    return true;
  }
  enter(thread);
  poll();
  Fiber* first = ready_.pop();
  if (first == nullptr && take_back()) first = ready_.pop();
  if (first != nullptr) {
    record_resume();
    root_.state = FiberState::ready;
    ready_.push(root_);
    switch_to(*first);
  }
  arrive_at_stop();
  if (!is_held()) leave_stop();
  return first != nullptr || is_held();
}

/// Outside of fibers, with the seat, which it keeps while it is held.
void Worker::arrive_at_stop() {
  if (!scheduler_.seems_to_stop()) return;
  perturb(id_, PerturbedPoint::stop);
  // What is in the list would be taken for a record in flight.
  accept_new_mailboxes();
  held_by_ = scheduler_.take_part_in_stop();
}

/// The end of a turn, and of the stop that it may have ended in.
void Worker::leave_stop() {
  held_by_.reset();
  const bool has_requested_stop = std::exchange(has_requested_stop_, false);
  // If several workers share a thread, the last one that ran may be another.
  set_current(this);
  leave();
  if (has_requested_stop) scheduler_.resume_requester(*this);
}

void Worker::end(ThreadState& thread) {
  // The last fiber may have ended while this worker was held, with its seat.
  if (is_held()) {
    scheduler_.wait_for_stop(*held_by_);
    leave_stop();
  }
  // The first thread may have ended.
  thread_pointer_ = 0;
  enter(thread);
  if (tracer_ != nullptr) record_thread();
  scheduler_.hooks_.on_worker_end(*this);
  mark_gone();
  has_ended_ = true;
  set_current(nullptr);
}

/// The last check before its thread sleeps.
bool Worker::has_work() {
  // If several workers share a thread, the last one that ran fibers may be another.
  set_current(this);
  return poll_all() || !ready_.empty() || (rare_states_ & has_offers) != 0 || deferred_count_ != 0;
}

std::int64_t Worker::next_sleep_end_ns() {
  set_current(this);
  take_seat();
  const std::int64_t end_ns = sleep_end_ns();
  give_seat();
  return end_ns;
}

/// Prepared to park: whether there is work after all.
bool Worker::prepare_sleep() {
  set_current(this);
  take_seat();
  const bool has_any = has_work();
  give_seat();
  return has_any;
}

/// After that, without work; returns the end of its sleep, if all workers of the thread sleep until
/// `end_ns`.
std::int64_t Worker::mark_sleep(std::int64_t end_ns) {
  set_current(this);
  take_seat();
  mark_idle();
  parked_until_ns_ = end_ns;
  give_seat();
  return idle_sleep_end_ns(end_ns);
}

/// Prepared to park, without work: counts as idle if only another worker can wake it.
void Worker::mark_idle() {
  is_counted_ =
      timers_.has_only_polls() && !(has_guests_ && scheduler_.hooks_.has_threads_outside(*this));
  if (!is_counted_ || parker().mark_idle() != memory_.idle_count_max()) return;
  set_current(this);
  scheduler_.hooks_.on_all_asleep();
}

/// The end of its sleep after mark_idle(), when the next timer is due at `end_ns`. A thread that
/// may call ends outside of MPI without a word, so the worker checks now and then if it counts.
std::int64_t Worker::idle_sleep_end_ns(std::int64_t end_ns) const {
  constexpr std::int64_t check_distance_ns = 100'000'000;
  return !has_guests_ || is_counted_ ? end_ns
                                     : std::min(end_ns, os::monotonic_ns() + check_distance_ns);
}

/// Its thread has been woken, perhaps for another worker.
void Worker::end_park() {
  if (is_counted_) {
    cancel_park();
  } else {
    parker().cancel_park();
  }
  if (memory_.are_reports_requested()) {
    set_current(this);
    scheduler_.hooks_.on_report_requested();
  }
}

void Worker::request_attention() {
  request_attention_of(id_);
}

void Worker::request_attention_of(WorkerId worker) {
  WorkerControl& control = memory_.control(worker);
  // Acquire and release: the thread that handles the request sees its reason, even if an earlier
  // request is still pending.
  if (control.is_called.exchange(1, std::memory_order_acq_rel) == 0)
    control.newly_opened.push(worker, memory_.link(worker, worker));
  wake_worker(worker);
}

/// Makes root_ ready, behind the fibers that are ready, so that the thread runs code outside
/// fibers.
void Worker::handle_attention() {
  if (running_->is_guest) {
    has_missed_attention_ = true;
    return;
  }
  control_.is_called.exchange(0, std::memory_order_acq_rel);
  // A thread with several workers looks for news without being in one.
  Worker* before = current();
  set_current(this);
  // First, since a stop that it requests begins when the root runs.
  scheduler_.hooks_.on_attention(*this);
  set_current(before);
  // Under a seed, a request that comes at any time must not change which fiber is drawn.
  if (is_seeded() && !has_guests_ && moving_.empty() && !scheduler_.seems_to_stop()) return;
  has_attention_ = true;
  if (root_.state == FiberState::waiting) make_ready(root_);
}

void Worker::attach_thread(Fiber& fiber) {
  attached_.take_calling_thread();
  enter(attached_);
  fiber.worker = this;
  fiber.state = FiberState::running;
  fiber.sanitizer.adopt_thread();
  running_ = &fiber;
}

void Worker::detach_thread() {
  running_->state = FiberState::ended;
  scheduler_.hooks_.on_worker_end(*this);
  mark_gone();
  set_current(nullptr);
}

/// Tells the other processes that this worker sleeps for good. They may be asleep and have to find
/// out that it was the last one awake (README.md, "All workers idle").
void Worker::mark_gone() {
  if (memory_.is_shared()) memory_.mark_gone(id_);
}

}  // namespace sorrel::core
