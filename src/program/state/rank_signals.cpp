#include "program/state/rank_signals.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <new>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>

#include "arch/interrupted.hpp"
#include "arch/stack_pointer.hpp"
#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "program/base/program_calls.hpp"
#include "program/state/signal_table.hpp"

namespace sorrel::program {

namespace {

constexpr std::size_t index_of(int number) {
  return static_cast<std::size_t>(number);
}

void assign(std::atomic<SignalMask>& mask, int number, bool is_in) {
  if (is_in) {
    mask.fetch_or(mask_of(number), std::memory_order_release);
  } else {
    mask.fetch_and(~mask_of(number), std::memory_order_release);
  }
}

/// Apart, because getcontext() may return twice.
[[gnu::noinline]] void read_context(ucontext_t& context) {
  ::getcontext(&context);
}

}  // namespace

RankSignals::~RankSignals() {
  if (actions_ != nullptr) ::munmap(actions_, sizeof(ActionTable));
}

// Not from the heap: sigaction() may be called by a handler that has interrupted malloc().
RankSignals::ActionTable* RankSignals::make_actions() {
  if (actions_ != nullptr) return actions_;
  void* memory = ::mmap(nullptr, sizeof(ActionTable), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  actions_ = new (memory) ActionTable;
  return actions_;
}

void RankSignals::check_invariants() const {
  const SignalTableLock lock;
  const SignalMask set = set_.load(std::memory_order_relaxed);
  SORREL_CHECK(set == 0 || actions_ != nullptr, "actions 0x%llx without a table",
               static_cast<unsigned long long>(set));
  SORREL_CHECK((handled() & ~set) == 0 && (ignored() & ~set) == 0,
               "handlers 0x%llx and ignored 0x%llx, of actions 0x%llx",
               static_cast<unsigned long long>(handled()),
               static_cast<unsigned long long>(ignored()), static_cast<unsigned long long>(set));
  SORREL_CHECK((handled() & ignored()) == 0, "0x%llx are handled and ignored",
               static_cast<unsigned long long>(handled() & ignored()));
}

bool RankSignals::set_action(int number, const struct sigaction* action, struct sigaction* before) {
  SORREL_ASSERT(can_be_caught(number), "signal %d", number);
  // The program's memory is not touched with the lock.
  struct sigaction wanted{};
  if (action != nullptr) wanted = *action;

  struct sigaction previous{};
  {
    const SignalTableLock lock;
    previous = action_of(number);
    if (action != nullptr && !change_action(number, wanted)) return false;
  }

  if (before != nullptr) *before = previous;
  return true;
}

/// Under the lock, as the next one.
struct sigaction RankSignals::action_of(int number) const {
  const bool is_set = (set_.load(std::memory_order_relaxed) & mask_of(number)) != 0;
  return is_set ? (*actions_)[index_of(number)] : inherited_action(number);
}

/// False: no memory.
bool RankSignals::change_action(int number, const struct sigaction& action) {
  const struct sigaction previous = action_of(number);
  ActionTable* table = make_actions();
  if (table == nullptr) return false;
  (*table)[index_of(number)] = action;
  set_.fetch_or(mask_of(number), std::memory_order_relaxed);
  const bool is_handled = is_handler(action);
  const bool is_ignored = action.sa_handler == SIG_IGN;
  // A thread that looks without the lock never finds the action by default in between. Release,
  // pairs with RankProcess::end_if_signalled().
  if (is_handled) assign(handled_, number, true);
  assign(ignored_, number, is_ignored);
  if (!is_handled) assign(handled_, number, false);
  if (is_ignored) pending_.fetch_and(~mask_of(number), std::memory_order_relaxed);
  apply_action_change(number, previous, action);
  return true;
}

void RankSignals::end() {
  set_alarm({});
  const SignalTableLock lock;
  for (SignalMask mask = handled(); mask != 0; mask &= mask - 1)
    reset_action(first_signal_of(mask));
  pending_.store(0, std::memory_order_relaxed);
}

void RankSignals::save(ByteWriter& to) const {
  const SignalMask set = set_.load(std::memory_order_relaxed);
  to.add(set);
  for (SignalMask left = set; left != 0; left &= left - 1)
    to.add((*actions_)[index_of(first_signal_of(left))]);
  to.add(blocked());
  to.add(pending());
  to.add(alternate_stack_);
  to.add(alarm());
}

bool RankSignals::restore(ByteCursor& from) {
  SORREL_ASSERT(set_.load(std::memory_order_relaxed) == 0 && !is_in_handler(),
                "a rank with actions 0x%llx is restored",
                static_cast<unsigned long long>(set_.load(std::memory_order_relaxed)));
  for (auto left = from.take<SignalMask>(); left != 0 && from.is_good(); left &= left - 1) {
    const auto action = from.take<struct sigaction>();
    if (!set_action(first_signal_of(left), &action, nullptr)) return false;
  }
  const auto blocked = from.take<SignalMask>();
  for (SignalMask left = blocked; left != 0; left &= left - 1)
    catch_blocked_signal(first_signal_of(left));
  set_blocked(blocked);
  pending_.store(from.take<SignalMask>(), std::memory_order_relaxed);
  alternate_stack_ = from.take<stack_t>();
  set_alarm(from.take<Alarm>());
  return true;
}

void RankSignals::leave() {
  const SignalTableLock lock;
  for (SignalMask left = set_.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    const int number = first_signal_of(left);
    apply_action_change(number, (*actions_)[index_of(number)], inherited_action(number));
  }
  set_.store(0, std::memory_order_relaxed);
  handled_.store(0, std::memory_order_relaxed);
  ignored_.store(0, std::memory_order_relaxed);
}

void RankSignals::enter_child() {
  set_blocked(0);
  // Without the lock, which another thread may have held: vfork() does not wait for it.
  for (int number = 1; number <= signal_count; ++number) {
    if (!can_be_caught(number) || (handled() & mask_of(number)) != 0) continue;
    const bool is_set = (set_.load(std::memory_order_relaxed) & mask_of(number)) != 0;
    set_action_of_child(number, is_set ? &(*actions_)[index_of(number)] : nullptr);
  }
}

/// Under the lock.
void RankSignals::reset_action(int number) {
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  // The table is there: the signal has had an action.
  static_cast<void>(change_action(number, by_default));
}

/// The action for a signal whose handler is about to run: its only use, if it says so.
struct sigaction RankSignals::take_action(int number) {
  const SignalTableLock lock;
  const struct sigaction action = action_of(number);
  if (is_handler(action) && (action.sa_flags & SA_RESETHAND) != 0) reset_action(number);
  return action;
}

void RankSignals::raise(int number) {
  SORREL_ASSERT(number >= 1 && number <= signal_count, "signal %d", number);
  if ((ignored() & mask_of(number)) != 0) return;
  pending_.fetch_or(mask_of(number), std::memory_order_release);
}

RankSignals::Sent RankSignals::send(int number) {
  const SignalTableLock lock;
  if ((ignored() & mask_of(number)) != 0) return Sent::ignored;
  if (((handled() | blocked()) & mask_of(number)) == 0) return Sent::by_default;
  raise(number);
  return Sent::pending;
}

SignalMask RankSignals::exchange_mask(SignalMask mask) {
  const SignalMask before = blocked();
  // From now on the process must not take the default action for signals that the rank blocks.
  for (SignalMask added = mask & ~before; added != 0; added &= added - 1)
    catch_blocked_signal(first_signal_of(added));
  set_blocked(mask);
  wait_for_interruption();
  return before;
}

void RankSignals::change_mask(SignalMask mask) {
  exchange_mask(mask);
  run_pending(Interrupts::program, nullptr);
}

int RankSignals::take(SignalMask mask) {
  while (const SignalMask found = pending() & mask) {
    const int number = first_signal_of(found);
    // A handler that has interrupted this, or another thread of the rank, may have taken it.
    const SignalMask before = pending_.fetch_and(~mask_of(number), std::memory_order_acquire);
    if ((before & mask_of(number)) != 0) return number;
  }
  return 0;
}

bool RankSignals::run_pending(Interrupts interrupts, void* context) {
  bool any = false;
  while (const int number = take(~blocked() & handled())) {
    siginfo_t info{};
    info.si_signo = number;
    info.si_code = SI_USER;
    info.si_pid = ::getpid();
    info.si_uid = ::getuid();
    if (run(number, info, context, interrupts)) {
      any = true;
    } else if (send(number) == Sent::by_default) {
      // Another thread of the rank has just taken the handler away: RankProcess finds it.
      pending_.fetch_or(mask_of(number), std::memory_order_release);
    }
  }
  if (any) wait_for_interruption();
  return any;
}

void RankSignals::wait_for_interruption() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  while (is_being_interrupted_.load(std::memory_order_acquire))
    os::yield_core();
}

bool RankSignals::run(int number, siginfo_t& info, void* context, Interrupts interrupts) {
  const struct sigaction action = take_action(number);
  if (!is_handler(action)) return false;
  failed_delivery_count_ = 0;
  ++run_count_;
  SignalMask after = blocked();
  const bool before_must_return = must_return_;
  const Handler handler{
      .outer = handlers_,
      .interrupts = interrupts,
      .before_must_return = before_must_return,
      .interrupted_stack = context == nullptr
                               ? arch::stack_pointer()
                               : reinterpret_cast<std::uintptr_t>(arch::interrupted_stack(context)),
  };
  handlers_ = &handler;
  must_return_ |= interrupts == Interrupts::library;
  set_blocked(after | mask_of(action.sa_mask) |
              ((action.sa_flags & SA_NODEFER) != 0 ? 0 : mask_of(number)));
  const int error = errno;
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    ucontext_t own_context{};
    if (context == nullptr) read_context(own_context);
    auto& shown = *static_cast<ucontext_t*>(context != nullptr ? context : &own_context);
    // The mask after the handler, which may change it there. The system's ends with this word.
    auto& mask = *reinterpret_cast<SignalMask*>(&shown.uc_sigmask);
    const SignalMask of_thread = std::exchange(mask, after);
    call_program(action.sa_sigaction, number, &info, &shown);
    after = std::exchange(mask, of_thread) & ~mask_of(SIGKILL) & ~mask_of(SIGSTOP);
  } else {
    call_program(action.sa_handler, number);
  }
  errno = error;
  has_interrupted_ = (action.sa_flags & SA_RESTART) == 0;
  // It may have been left, and entered again by setcontext().
  handlers_ = handler.outer;
  must_return_ = before_must_return;
  exchange_mask(after);
  return true;
}

bool RankSignals::leave_handlers(std::uintptr_t from, std::uintptr_t to) {
  const Handler* handler = handlers_;
  bool must_return = must_return_;
  // What a handler has called lies between its caller's frame and the stack pointer.
  for (std::uintptr_t lowest = from; handler != nullptr; handler = handler->outer) {
    if (lowest <= to && to < reinterpret_cast<std::uintptr_t>(handler)) break;
    if (handler->interrupts == Interrupts::library) return false;
    must_return = handler->before_must_return;
    lowest = handler->interrupted_stack;
  }
  handlers_ = handler;
  must_return_ = must_return;
  return true;
}

RankSignals::Alarm RankSignals::set_alarm(const Alarm& alarm) {
  SORREL_ASSERT(alarm.left_ns >= 0 && alarm.interval_ns >= 0, "an alarm in %lld ns, every %lld ns",
                static_cast<long long>(alarm.left_ns), static_cast<long long>(alarm.interval_ns));
  const SignalTableLock lock;
  const std::int64_t now_ns = os::monotonic_ns();
  // The delivery thread may be late.
  static_cast<void>(poll_alarm(now_ns));
  const Alarm before = left_alarm();
  alarm_interval_ns_ = alarm.interval_ns;
  alarm_due_ns_ = alarm.left_ns == 0 ? 0 : now_ns + alarm.left_ns;
  return before;
}

RankSignals::Alarm RankSignals::alarm() const {
  const SignalTableLock lock;
  return left_alarm();
}

/// Under the lock. One that has become due, and will be raised, has time left.
RankSignals::Alarm RankSignals::left_alarm() const {
  const std::int64_t left_ns =
      alarm_due_ns_ == 0 ? 0 : std::max<std::int64_t>(alarm_due_ns_ - os::monotonic_ns(), 1);
  return {.left_ns = left_ns, .interval_ns = alarm_interval_ns_};
}

std::int64_t RankSignals::poll_alarm(std::int64_t now_ns) {
  if (alarm_due_ns_ == 0 || alarm_due_ns_ > now_ns) return alarm_due_ns_;
  alarm_due_ns_ = alarm_interval_ns_ == 0 ? 0 : now_ns + alarm_interval_ns_;
  raise(SIGALRM);
  return alarm_due_ns_;
}

}  // namespace sorrel::program
