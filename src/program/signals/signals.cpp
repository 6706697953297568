//! signal, sigaction, the masks, raise, kill, alarm, and functions that wait for signals: per rank.
//!
//! Handlers in shared libraries belong to the process, as their data does. The masks of threads
//! that a rank has started are real. The rank's own mask is kept by this library, so that the
//! worker's thread receives signals for its other ranks.

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <sys/time.h>
#include <unistd.h>

#include "base/check.hpp"
#include "core/worker.hpp"
#include "os/clock.hpp"
#include "program/base/driver_code.hpp"
#include "program/base/durations.hpp"
#include "program/base/libc.hpp"
#include "program/base/restart_note.hpp"
#include "program/base/user_memory.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"
#include "program/rank/wait_mask.hpp"
#include "program/signals/signal_delivery.hpp"
#include "program/state/signal_table.hpp"

using namespace sorrel::program;

namespace {

/// Stands for no time limit: a hundred years.
constexpr std::int64_t endless_ns = std::int64_t{3'155'760'000} * ns_per_second;
constexpr OutsideWait pause_wait{.call = "pause", .is_endless = true};
constexpr OutsideWait sigsuspend_wait{.call = "sigsuspend", .is_endless = true};
constexpr OutsideWait sigwait_wait{.call = "sigwait", .is_endless = true};
constexpr std::int64_t look_distance_ns = 1'000'000;

/// process_of_caller() for state that each thread has of its own.
RankProcess* rank_of_caller(const void* caller) {
  if (is_of_process(caller)) return nullptr;
  RankProcess* process = current_rank_process();
  return process == nullptr || is_forked_child() ? nullptr : process;
}

/// Whether the handler is the rank's code, or there is none.
bool is_of_rank(const RankProcess& process, const struct sigaction* action) {
  return action == nullptr || !is_handler(*action) ||
         process.contains(reinterpret_cast<std::uintptr_t>(action->sa_handler));
}

/// The caller changes an action of the process itself.
void report_action(RankProcess* process, int number, const void* caller) {
  if (is_of_process(caller)) return;
  report_own_action(number);
  if (process != nullptr && can_be_caught(number)) process->signals().note_handler_of_library();
}

/// As sigaction(), with its result. A signal that has come before has the action before, as at the
/// end of each system call.
int set_action(RankProcess& process,
               int number,
               const struct sigaction* action,
               struct sigaction* before) {
  SORREL_ASSERT(can_be_caught(number), "an action for signal %d", number);
  if (action != nullptr && current_rank_process() == &process)
    process.signals().run_pending(RankSignals::Interrupts::program, nullptr);
  if (!process.signals().set_action(number, action, before)) {
    errno = ENOMEM;
    return -1;
  }
  if (action != nullptr && is_handler(*action)) start_signal_delivery();
  return 0;
}

/// As signal(), which `real` is, with the flags of one of its forms.
sighandler_t set_handler(decltype(::signal)* real,
                         const void* caller,
                         int number,
                         sighandler_t handler,
                         unsigned flags) {
  RankProcess* process = process_of_caller(caller);
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(flags);
  if (process == nullptr || !can_be_caught(number) || handler == SIG_ERR ||
      !is_of_rank(*process, &action)) {
    report_action(handler == SIG_ERR ? nullptr : process, number, caller);
    return real(number, handler);
  }
  return set_action(*process, number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

int change_mask(RankProcess& process, int how, const sigset_t* set, sigset_t* before) {
  RankSignals& signals = process.signals();
  const SignalMask old = signals.blocked();
  if (before != nullptr) *before = set_of(old);
  if (set == nullptr) return 0;
  const SignalMask mask = mask_of(*set) & ~mask_of(SIGKILL) & ~mask_of(SIGSTOP);
  if (how == SIG_BLOCK) {
    signals.change_mask(old | mask);
  } else if (how == SIG_UNBLOCK) {
    signals.change_mask(old & ~mask);
  } else if (how == SIG_SETMASK) {
    signals.change_mask(mask);
  } else {
    return EINVAL;
  }
  SORREL_ASSERT((signals.blocked() & (mask_of(SIGKILL) | mask_of(SIGSTOP))) == 0,
                "signals are blocked that cannot be");
  process.end_if_signalled();
  return 0;
}

/// The functions of System V about one signal: blocks or unblocks it. -1, EINVAL: there is none.
int change_blocked(int (*real)(int), const void* caller, int number, int how) {
  RankProcess* process = rank_of_caller(caller);
  sigset_t one{};
  if (process == nullptr || sigaddset(&one, number) != 0) return real(number);
  return change_mask(*process, how, &one, nullptr);
}

/// The functions of BSD, whose masks have signals 1 to 32: changes the mask by `mask`, and returns
/// the one before.
int change_bits(int (*real)(int), const void* caller, int mask, int how) {
  RankProcess* process = rank_of_caller(caller);
  if (process == nullptr) return real(mask);
  sigset_t before{};
  const sigset_t wanted = set_of(static_cast<unsigned>(mask));
  static_cast<void>(change_mask(*process, how, &wanted, &before));
  return static_cast<int>(mask_of(before));
}

/// As sigset(): an action without flags, and the signal is unblocked; or it is blocked (SIG_HOLD).
sighandler_t set_disposition(RankProcess& process, int number, sighandler_t handler) {
  SORREL_ASSERT(handler != SIG_ERR, "no disposition of signal %d", number);
  sigset_t one{};
  sigset_t mask{};
  struct sigaction action{};
  struct sigaction before{};
  sigaddset(&one, number);
  const bool holds = handler == SIG_HOLD;
  action.sa_handler = handler;
  if (set_action(process, number, holds ? nullptr : &action, &before) != 0) return SIG_ERR;
  static_cast<void>(change_mask(process, holds ? SIG_BLOCK : SIG_UNBLOCK, &one, &mask));
  return sigismember(&mask, number) == 1 ? SIG_HOLD : before.sa_handler;
}

/// Waits until a signal of `set` is pending, or a handler has run (-1, EINTR), or the time is over
/// (-1, EAGAIN). In the rank or a thread that it has started.
int wait_for_signal(RankProcess& process, const sigset_t& set, std::int64_t timeout_ns) {
  const SignalMask mask = mask_of(set);
  const bool is_rank = process_that_may_wait(nullptr) != nullptr;
  const std::int64_t end_ns = sorrel::os::monotonic_ns() + timeout_ns;
  for (;;) {
    if (const int number = process.signals().take(mask)) return number;
    const std::int64_t left_ns = end_ns - sorrel::os::monotonic_ns();
    if (left_ns <= 0) {
      errno = EAGAIN;
      return -1;
    }
    const std::int64_t pause_ns = std::min(left_ns, look_distance_ns);
    if (!is_rank) {
      sorrel::os::sleep_ns(pause_ns);
    } else if (process.sleep(sigwait_wait, pause_ns) != 0) {
      errno = EINTR;
      return -1;
    }
  }
}

/// As above, with what is known of the signal in `info`, which may be null.
int wait_for_signal(RankProcess& process,
                    const sigset_t& set,
                    siginfo_t* info,
                    std::int64_t timeout_ns) {
  const int number = wait_for_signal(process, set, timeout_ns);
  if (number < 0) return number;
  siginfo_t known{};
  known.si_signo = number;
  known.si_code = SI_USER;
  return give(info, known) ? number : -1;
}

siginfo_t info_of(int number, int code) {
  siginfo_t info{};
  info.si_signo = number;
  info.si_code = code;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  return info;
}

int real_raise(int number) {
  static auto* const real = next_definition<decltype(::raise)>("raise");
  note_own_signal(number);
  return real(number);
}

/// Sends the rank a signal that can be caught: runs its handler, if the rank calls and accepts the
/// signal, or makes the signal pending. False: the rank neither handles, blocks nor ignores it.
bool send_to_rank(RankProcess& process, int number, siginfo_t info) {
  SORREL_ASSERT(can_be_caught(number) && info.si_signo == number, "signal %d is sent as %d", number,
                info.si_signo);
  RankSignals& signals = process.signals();
  const bool is_rank = current_rank_process() == &process;
  const bool is_accepted = (signals.handled() & ~signals.blocked() & mask_of(number)) != 0;
  if (is_rank && is_accepted &&
      signals.run(number, info, nullptr, RankSignals::Interrupts::program)) {
    // The handler may have blocked and sent others.
    signals.run_pending(RankSignals::Interrupts::program, nullptr);
    return true;
  }
  const RankSignals::Sent sent = signals.send(number);
  if (sent == RankSignals::Sent::pending && !is_rank) notify_signal_delivery();
  return sent != RankSignals::Sent::by_default;
}

/// As raise(), for the calling rank or null.
int raise_in_rank(RankProcess* process, int number) {
  // The system treats those of `faults` as faults where they are not blocked.
  if (process == nullptr || !can_be_caught(number) || (faults & mask_of(number)) != 0 ||
      !send_to_rank(*process, number, info_of(number, SI_TKILL)))
    return real_raise(number);
  return 0;
}

/// The handler of an alarm that was due before runs here, as at the end of a system call, and not
/// later: the caller may have ended what it is for.
RankSignals::Alarm set_alarm(RankProcess& process, const RankSignals::Alarm& alarm) {
  RankSignals& signals = process.signals();
  const RankSignals::Alarm before = signals.set_alarm(alarm);
  if (alarm.left_ns != 0) start_signal_delivery();
  if (current_rank_process() != &process) {
    notify_signal_delivery();
  } else if (!is_forked_child()) {
    signals.run_pending(RankSignals::Interrupts::program, nullptr);
  }
  return before;
}

std::int64_t to_ns(const timeval& time) {
  return std::int64_t{time.tv_sec} * ns_per_second + std::int64_t{time.tv_usec} * 1000;
}

/// Rounded up, so that a remaining time is not 0.
timeval to_timeval(std::int64_t ns) {
  const std::int64_t us = (ns + 999) / 1000;
  return {.tv_sec = us / 1'000'000, .tv_usec = us % 1'000'000};
}

itimerval to_itimerval(const RankSignals::Alarm& alarm) {
  return {.it_interval = to_timeval(alarm.interval_ns), .it_value = to_timeval(alarm.left_ns)};
}

bool is_valid(const timeval& time) {
  return time.tv_sec >= 0 && time.tv_usec >= 0 && time.tv_usec < 1'000'000;
}

/// A timer of processor time, which the process has.
void note_timer(RankProcess& process, __itimer_which_t which, bool is_set) {
  static constexpr char timers[ITIMER_PROF + 1] = {};
  if (!RankProcess::are_saved()) return;
  process.unsaved().remove(&timers[which]);
  if (is_set) process.unsaved().add(&timers[which], "it has a timer (setitimer)");
}

/// As sigsuspend() by `caller`.
int suspend(const sigset_t* set, const void* caller) {
  static auto* const real = next_definition<decltype(::sigsuspend)>("sigsuspend");
  if (!can_read(set)) return real(set);
  if (RankProcess* own = process_on_own_thread(caller); own != nullptr)
    return wait_with_mask(
        *own, *set, [&](const sigset_t& mask) { return real(&mask); }, [] { return 0; });
  RankProcess* process = process_that_may_wait(caller);
  if (process == nullptr) return real(set);
  const WaitMask during(process->signals(), set);
  while (process->sleep(sigsuspend_wait, endless_ns) == 0) {
  }
  errno = EINTR;
  return -1;
}

}  // namespace

SORREL_INTERPOSED int sigaction(int number,
                                const struct sigaction* action,
                                struct sigaction* before) noexcept {
  static auto* const real = next_definition<decltype(::sigaction)>("sigaction");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  if (process == nullptr || !can_be_caught(number) || !is_of_rank(*process, action)) {
    if (action != nullptr) report_action(process, number, __builtin_return_address(0));
    return real(number, action, before);
  }
  return set_action(*process, number, action, before);
}

SORREL_INTERPOSED sighandler_t signal(int number, sighandler_t handler) noexcept {
  static auto* const real = next_definition<decltype(::signal)>("signal");
  return set_handler(real, __builtin_return_address(0), number, handler, SA_RESTART);
}

// The name of signal() in programs that request System V or plain POSIX.
SORREL_INTERPOSED sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
  static auto* const real = next_definition<decltype(::__sysv_signal)>("__sysv_signal");
  return set_handler(real, __builtin_return_address(0), number, handler, SA_RESETHAND | SA_NODEFER);
}

// Further names of signal(), and of its form of System V.
SORREL_INTERPOSED_AS(signal) sighandler_t bsd_signal(int number, sighandler_t handler) noexcept;
SORREL_INTERPOSED_AS(signal) sighandler_t ssignal(int number, sighandler_t handler) noexcept;
SORREL_INTERPOSED_AS(__sysv_signal)
sighandler_t sysv_signal(int number, sighandler_t handler) noexcept;

SORREL_INTERPOSED sighandler_t sigset(int number, sighandler_t handler) noexcept {
  static auto* const real = next_definition<sighandler_t(int, sighandler_t)>("sigset");
  const void* const caller = __builtin_return_address(0);
  RankProcess* process = process_of_caller(caller);
  struct sigaction action{};
  action.sa_handler = handler == SIG_HOLD ? SIG_DFL : handler;
  if (process == nullptr || rank_of_caller(caller) != process || !can_be_caught(number) ||
      handler == SIG_ERR || !is_of_rank(*process, &action))
    return real(number, handler);
  return set_disposition(*process, number, handler);
}

SORREL_INTERPOSED int sigignore(int number) noexcept {
  static auto* const real = next_definition<int(int)>("sigignore");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  if (process == nullptr || !can_be_caught(number)) return real(number);
  return set_action(*process, number, &action, nullptr);
}

SORREL_INTERPOSED int siginterrupt(int number, int interrupts) noexcept {
  static auto* const real = next_definition<int(int, int)>("siginterrupt");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  struct sigaction action{};
  if (process == nullptr || !can_be_caught(number)) return real(number, interrupts);
  if (set_action(*process, number, nullptr, &action) != 0) return -1;
  action.sa_flags = interrupts != 0 ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  return set_action(*process, number, &action, nullptr);
}

SORREL_INTERPOSED int sighold(int number) noexcept {
  static auto* const real = next_definition<int(int)>("sighold");
  return change_blocked(real, __builtin_return_address(0), number, SIG_BLOCK);
}

SORREL_INTERPOSED int sigrelse(int number) noexcept {
  static auto* const real = next_definition<int(int)>("sigrelse");
  return change_blocked(real, __builtin_return_address(0), number, SIG_UNBLOCK);
}

SORREL_INTERPOSED int sigblock(int mask) noexcept {
  static auto* const real = next_definition<int(int)>("sigblock");
  return change_bits(real, __builtin_return_address(0), mask, SIG_BLOCK);
}

SORREL_INTERPOSED int sigsetmask(int mask) noexcept {
  static auto* const real = next_definition<int(int)>("sigsetmask");
  return change_bits(real, __builtin_return_address(0), mask, SIG_SETMASK);
}

SORREL_INTERPOSED int siggetmask() noexcept {
  static auto* const real = next_definition<int(int)>("sigblock");
  return change_bits(real, __builtin_return_address(0), 0, SIG_BLOCK);
}

SORREL_INTERPOSED int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  static auto* const real = next_definition<decltype(::sigprocmask)>("sigprocmask");
  RankProcess* process = rank_of_caller(__builtin_return_address(0));
  if (process == nullptr) return real(how, set, before);
  const int error = change_mask(*process, how, set, before);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

SORREL_INTERPOSED int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  static auto* const real = next_definition<decltype(::pthread_sigmask)>("pthread_sigmask");
  RankProcess* process = rank_of_caller(__builtin_return_address(0));
  return process == nullptr ? real(how, set, before) : change_mask(*process, how, set, before);
}

SORREL_INTERPOSED int sigpending(sigset_t* set) noexcept {
  static auto* const real = next_definition<decltype(::sigpending)>("sigpending");
  RankProcess* process = rank_of_caller(__builtin_return_address(0));
  if (process == nullptr) return real(set);
  const sigset_t pending = set_of(process->signals().pending());
  return copy_to_user(set, &pending, sizeof pending) ? 0 : -1;
}

SORREL_INTERPOSED int pause() {
  static auto* const real = next_definition<decltype(::pause)>("pause");
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  if (process == nullptr) return real();
  while (process->sleep(pause_wait, endless_ns) == 0) {
  }
  errno = EINTR;
  return -1;
}

SORREL_INTERPOSED int sigsuspend(const sigset_t* set) {
  return suspend(set, __builtin_return_address(0));
}

// sigpause() of glibc's headers.
SORREL_INTERPOSED int __xpg_sigpause(int number) {
  static auto* const real = next_definition<int(int)>("__xpg_sigpause");
  const void* caller = __builtin_return_address(0);
  RankProcess* process = rank_of_caller(caller);
  if (process == nullptr) return real(number);
  sigset_t set;
  (void)change_mask(*process, SIG_BLOCK, nullptr, &set);
  return sigdelset(&set, number) == 0 ? suspend(&set, caller) : -1;
}

SORREL_INTERPOSED int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  static auto* const real = next_definition<decltype(::sigtimedwait)>("sigtimedwait");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  // An address that is not valid gets the system's answer.
  if (process == nullptr || !can_read(set) || (timeout != nullptr && !can_read(timeout)))
    return real(set, info, timeout);
  return wait_for_signal(*process, *set, info, timeout == nullptr ? endless_ns : to_ns(*timeout));
}

SORREL_INTERPOSED int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  static auto* const real = next_definition<decltype(::sigwaitinfo)>("sigwaitinfo");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  if (process == nullptr || !can_read(set)) return real(set, info);
  return wait_for_signal(*process, *set, info, endless_ns);
}

SORREL_INTERPOSED int sigwait(const sigset_t* set, int* number) {
  static auto* const real = next_definition<decltype(::sigwait)>("sigwait");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  if (process == nullptr || !can_read(set)) return real(set, number);
  do {
    *number = wait_for_signal(*process, *set, endless_ns);
  } while (*number < 0);
  return 0;
}

// A signal for the own process, or the own thread, is delivered to the rank without the system. The
// system merges a signal with one that is pending for the same thread: with that by which the
// delivery thread interrupts a worker for another rank.

SORREL_INTERPOSED int kill(pid_t pid, int number) noexcept {
  static auto* const real = next_definition<decltype(::kill)>("kill");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  if (process == nullptr || pid != ::getpid()) return real(pid, number);
  if (!can_be_caught(number)) {
    note_own_signal(number);
    return real(pid, number);
  }
  // The default action is that of the rank, not of those that have a handler.
  if (!send_to_rank(*process, number, info_of(number, SI_USER))) return real_raise(number);
  return 0;
}

SORREL_INTERPOSED int sigqueue(pid_t pid, int number, sigval value) noexcept {
  static auto* const real = next_definition<decltype(::sigqueue)>("sigqueue");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  if (process == nullptr || pid != ::getpid() || !can_be_caught(number))
    return real(pid, number, value);
  siginfo_t info = info_of(number, SI_QUEUE);
  info.si_value = value;
  if (!send_to_rank(*process, number, info)) return real_raise(number);
  return 0;
}

SORREL_INTERPOSED int raise(int number) noexcept {
  return raise_in_rank(rank_of_caller(__builtin_return_address(0)), number);
}

SORREL_INTERPOSED int gsignal(int number) noexcept {
  return raise_in_rank(rank_of_caller(__builtin_return_address(0)), number);
}

SORREL_INTERPOSED int pthread_kill(pthread_t thread, int number) noexcept {
  static auto* const real = next_definition<decltype(::pthread_kill)>("pthread_kill");
  RankProcess* process = rank_of_caller(__builtin_return_address(0));
  if (process == nullptr || pthread_equal(thread, pthread_self()) == 0) return real(thread, number);
  return raise_in_rank(process, number) == 0 ? 0 : errno;
}

SORREL_INTERPOSED int tgkill(pid_t pid, pid_t thread, int number) noexcept {
  static auto* const real = next_definition<decltype(::tgkill)>("tgkill");
  RankProcess* process = rank_of_caller(__builtin_return_address(0));
  if (process == nullptr || pid != ::getpid() || thread != ::gettid())
    return real(pid, thread, number);
  return raise_in_rank(process, number);
}

SORREL_INTERPOSED unsigned int alarm(unsigned int seconds) noexcept {
  static auto* const real = next_definition<decltype(::alarm)>("alarm");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  if (process == nullptr) return real(seconds);
  const std::int64_t left_ns =
      set_alarm(*process, {.left_ns = std::int64_t{seconds} * ns_per_second}).left_ns;
  // Rounded as the system does, and never to 0.
  const std::int64_t rounded = (left_ns + ns_per_second / 2) / ns_per_second;
  return static_cast<unsigned int>(left_ns == 0 ? 0 : std::max<std::int64_t>(rounded, 1));
}

SORREL_INTERPOSED int getitimer(__itimer_which_t which, itimerval* value) noexcept {
  static auto* const real = next_definition<decltype(::getitimer)>("getitimer");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  if (process == nullptr || which != ITIMER_REAL || value == nullptr) return real(which, value);
  return give(value, to_itimerval(process->signals().alarm())) ? 0 : -1;
}

SORREL_INTERPOSED int setitimer(__itimer_which_t which,
                                const itimerval* value,
                                itimerval* before) noexcept {
  static auto* const real = next_definition<decltype(::setitimer)>("setitimer");
  RankProcess* process = process_of_caller(__builtin_return_address(0));
  const bool is_usual = which == ITIMER_REAL && can_read(value) && is_valid(value->it_value) &&
                        is_valid(value->it_interval);
  if (process == nullptr || !is_usual) {
    const int result = real(which, value, before);
    if (result == 0 && process != nullptr && value != nullptr)
      note_timer(*process, which, value->it_value.tv_sec != 0 || value->it_value.tv_usec != 0);
    return result;
  }
  // As the system: the timer is set, even if the program's address is not valid.
  const RankSignals::Alarm left = set_alarm(
      *process, {.left_ns = to_ns(value->it_value), .interval_ns = to_ns(value->it_interval)});
  return give(before, to_itimerval(left)) ? 0 : -1;
}

// The worker's thread keeps the stack for crash reports. Handlers of ranks run there after a fault,
// and on the rank's own stack otherwise.
SORREL_INTERPOSED int sigaltstack(const stack_t* stack, stack_t* before) noexcept {
  static auto* const real = next_definition<decltype(::sigaltstack)>("sigaltstack");
  RankProcess* process = rank_of_caller(__builtin_return_address(0));
  if (process == nullptr) return real(stack, before);
  stack_t& own = process->signals().alternate_stack();
  const stack_t previous = own;
  // An address that is not valid gets the system's answer.
  if (stack != nullptr && !can_read(stack)) return real(stack, before);
  if (stack != nullptr) own = *stack;
  return give(before, previous) ? 0 : -1;
}
