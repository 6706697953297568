#include "program/signals/signal_delivery.hpp"

#include <algorithm>
#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>
#include <utility>

#include "arch/interrupted.hpp"
#include "base/check.hpp"
#include "core/guest.hpp"
#include "core/worker.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/kept_errno.hpp"
#include "os/thread.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"
#include "program/state/signal_table.hpp"

namespace sorrel::program {

namespace {

using Interrupts = RankSignals::Interrupts;

/// Signals that the system raises for the running thread, whichever that is.
constexpr SignalMask of_running_thread =
    mask_of(SIGPIPE) | mask_of(SIGPROF) | mask_of(SIGVTALRM) | mask_of(SIGXCPU) | mask_of(SIGSYS);

constexpr std::int64_t retry_ns_min = 200'000;
constexpr std::int64_t retry_ns_max = 5'000'000;
/// After this many attempts the signal is delivered even while the rank is in the library.
constexpr int failed_deliveries_max = 20;

// Under the SignalTableLock, which handlers take, too.
std::vector<RankProcess*> targets;
bool are_held = false;
SignalMask held_signals = 0;

bool (*is_of_process)(const siginfo_t& info) = nullptr;

std::atomic<std::uint32_t> notification_count{0};
std::atomic_flag has_thread;
/// Distinguishes interruptions by the delivery thread.
const char interruption_tag = 0;

/// Finds the first frame of this library or of the rank among the interrupted frames.
struct Search {
  const RankProcess& process;
  bool is_past_handler = false;
  bool is_in_library = false;
};

_Unwind_Reason_Code inspect_frame(_Unwind_Context* context, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  int is_interrupted = 0;
  const std::uintptr_t code = _Unwind_GetIPInfo(context, &is_interrupted);
  search.is_past_handler |= is_interrupted != 0;
  if (!search.is_past_handler) return _URC_NO_REASON;
  if (search.process.contains(code)) return _URC_END_OF_STACK;
  search.is_in_library = is_of_this_library(reinterpret_cast<const void*>(code));
  return search.is_in_library ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/// Whether the interrupted rank is inside a call of this library: it may hold state that all ranks
/// share.
bool is_in_library(const RankProcess& process, const void* context) {
  if (process.contains(arch::interrupted_at(context))) return false;
  Search search{.process = process};
  _Unwind_Backtrace(inspect_frame, &search);
  return search.is_in_library;
}

/// The rank that the calling thread runs, on the rank's own stack. Null in the runtime's own code:
/// while it idles, and while it switches from one rank to the next.
RankProcess* running_rank(const void* on_stack) {
  const core::Worker* worker = core::Worker::current();
  // A rank that has left its worker has none outside of calls.
  if (worker != nullptr && worker->running().state != core::FiberState::running) return nullptr;
  RankProcess* process = peek_rank_process();
  return process != nullptr && process->is_on_stack(on_stack) ? process : nullptr;
}

/// Acts as if this library had installed no handler.
void pass_on(int number, siginfo_t* info, void* context) {
  const struct sigaction& original = original_action(number);
  if (original.sa_handler == SIG_IGN) return;
  if (original.sa_handler == SIG_DFL) {
    if ((harmless & mask_of(number)) != 0) return;
    restore_original_action(number);
    // The signal arrives when this handler has returned; a fault occurs again by itself.
    if ((faults & mask_of(number)) == 0) syscall(SYS_tgkill, getpid(), gettid(), number);
    return;
  }
  if ((original.sa_flags & SA_SIGINFO) != 0) {
    original.sa_sigaction(number, info, context);
  } else {
    original.sa_handler(number);
  }
}

/// Delivers to one rank only: the rank whose code runs, or which has started the thread.
void deliver_here(int number, siginfo_t* info, void* context) {
  RankProcess* process = process_of_interrupted_thread();
  const SignalMask mask = mask_of(number);
  if (process == nullptr) return pass_on(number, info, context);
  RankSignals& signals = process->signals();
  if ((signals.blocked() & mask & ~faults) != 0) {
    signals.send(number);
    return;
  }
  const auto interrupts =
      is_in_library(*process, context) ? Interrupts::library : Interrupts::program;
  if ((signals.handled() & mask) != 0 && signals.run(number, *info, context, interrupts)) {
    signals.run_pending(interrupts, context);
  } else if ((signals.ignored() & mask) == 0 || (faults & mask) != 0) {
    pass_on(number, info, context);
  }
}

/// The delivery thread has found that the calling thread runs a rank with a pending handler.
void handle_interruption(void* context) {
  RankProcess* process = running_rank(arch::interrupted_stack(context));
  if (process == nullptr || !process->signals().has_work()) return;
  // A rank on a thread of its own may be in a wait of the system (sleep, poll), which this signal
  // ends: not without the handler.
  const core::Guest* guest = core::Guest::current();
  const bool is_outside_calls = guest != nullptr && !guest->is_inside();
  const bool is_inside = !is_outside_calls && is_in_library(*process, context);
  if (is_inside && process->signals().count_failed_delivery() < failed_deliveries_max) return;
  process->signals().run_pending(is_inside ? Interrupts::library : Interrupts::program, context);
}

/// Makes the signal pending for every rank that has a handler or blocks it. False: there is none,
/// and none that ignores it.
bool raise_for_all(int number) {
  const SignalTableLock lock;
  if (are_held) {
    held_signals |= mask_of(number);
    return true;
  }
  bool any = false;
  for (RankProcess* process : targets) {
    RankSignals& signals = process->signals();
    any |= (signals.ignored() & mask_of(number) & ~faults) != 0;
    if (((signals.handled() | signals.blocked()) & mask_of(number)) == 0) continue;
    signals.raise(number);
    any = true;
  }
  return any;
}

/// Delivers to every rank that has a handler, ignores or blocks it; without any, acts as if there
/// were no handler.
void deliver_to_all(int number, siginfo_t* info, void* context) {
  if (raise_for_all(number)) {
    notify_signal_delivery();
  } else {
    pass_on(number, info, context);
  }
}

/// The process's handler.
void handle(int number, siginfo_t* info, void* context) {
  const os::KeptErrno kept;
  const bool is_interruption =
      info->si_code == SI_QUEUE && info->si_value.sival_ptr == &interruption_tag;
  const bool is_fault = (faults & mask_of(number)) != 0 && info->si_code > 0;
  const bool is_own = info->si_code == SI_TKILL && info->si_pid == getpid();
  if (is_of_process != nullptr && is_of_process(*info)) {
    pass_on(number, info, context);
  } else if (is_interruption) {
    handle_interruption(context);
  } else if (is_fault || is_own || (of_running_thread & mask_of(number)) != 0 ||
             is_forked_child()) {
    deliver_here(number, info, context);
  } else {
    deliver_to_all(number, info, context);
  }
}

/// Interrupts the thread that runs the rank's worker, as the signal itself would.
void interrupt_worker(const core::Worker& worker, int number) {
  SORREL_ASSERT(number > 0 && number < NSIG, "signal %d", number);
  os::interrupt_thread(worker.thread_number(), number, &interruption_tag);
}

// State and worker may change right after; the next round finds it.
[[gnu::no_sanitize("thread")]] core::FiberState state_of(const core::Fiber& fiber) {
  return __atomic_load_n(&fiber.state, __ATOMIC_RELAXED);
}

[[gnu::no_sanitize("thread")]] core::Worker& worker_of(const core::Fiber& fiber) {
  return *__atomic_load_n(&fiber.worker, __ATOMIC_RELAXED);
}

/// Makes the rank notice its pending signals; returns whether some are left.
bool deliver(RankProcess& process) {
  RankSignals& signals = process.signals();
  process.end_if_signalled();
  const SignalMask work = signals.work();
  if (work == 0 || process.fiber() == nullptr) return false;
  core::Worker& worker = worker_of(*process.fiber());
  if (const pid_t own = process.own_thread(); own != 0) {
    signals.interrupt([&](int number) { os::interrupt_thread(own, number, &interruption_tag); });
    return true;
  }
  if (state_of(*process.fiber()) == core::FiberState::running) {
    interrupt_worker(worker, first_signal_of(work));
  } else {
    worker.request_attention();
  }
  return true;
}

/// Makes all ranks notice their pending signals, and raises alarms that are due.
struct Round {
  /// Whether some are left.
  bool any_left = false;
  /// The next alarm; 0: none.
  std::int64_t due_ns = 0;

  explicit Round(std::int64_t now_ns) {
    const SignalTableLock lock;
    // Notified when they are released.
    if (are_held) return;
    for (RankProcess* process : targets) {
      const std::int64_t own_due_ns = process->signals().poll_alarm(now_ns);
      if (own_due_ns != 0 && (due_ns == 0 || own_due_ns < due_ns)) due_ns = own_due_ns;
      any_left |= deliver(*process);
    }
  }
};

[[noreturn]] void* deliver_for_ever(void* /*argument*/) {
  std::int64_t retry_ns = retry_ns_min;
  for (;;) {
    // Acquire, pairs with notify_signal_delivery().
    const std::uint32_t seen = notification_count.load(std::memory_order_acquire);
    const std::int64_t now_ns = os::monotonic_ns();
    const auto [any_left, due_ns] = Round(now_ns);
    std::int64_t timeout_ns = due_ns == 0 ? -1 : std::max<std::int64_t>(due_ns - now_ns, 1);
    if (any_left) {
      timeout_ns = timeout_ns < 0 ? retry_ns : std::min(timeout_ns, retry_ns);
      retry_ns = std::min(2 * retry_ns, retry_ns_max);
    } else {
      retry_ns = retry_ns_min;
    }
    os::futex_wait(notification_count, seen, timeout_ns);
  }
}

}  // namespace

void prepare_signal_delivery(bool (*test)(const siginfo_t& info)) {
  is_of_process = test;
  set_process_handler(handle);
}

void set_signal_targets(std::vector<RankProcess*> processes) {
  const bool need_delivery = std::ranges::any_of(
      processes, [](RankProcess* process) { return process->signals().needs_delivery(); });
  {
    const SignalTableLock lock;
    targets.swap(processes);
  }
  // They have handlers from another process.
  if (need_delivery) start_signal_delivery();
}

void hold_signals() {
  const SignalTableLock lock;
  are_held = true;
}

void release_signals() {
  SignalMask held = 0;
  {
    const SignalTableLock lock;
    are_held = false;
    held = std::exchange(held_signals, 0);
  }
  for (; held != 0; held &= held - 1)
    syscall(SYS_kill, getpid(), first_signal_of(held));
  notify_signal_delivery();
}

void start_signal_delivery() {
  if (!has_thread.test_and_set(std::memory_order_relaxed) &&
      !os::start_background_thread(deliver_for_ever, nullptr))
    has_thread.clear(std::memory_order_relaxed);
  notify_signal_delivery();
}

void notify_signal_delivery() {
  // Release, pairs with deliver_for_ever(): orders the pending bits.
  notification_count.fetch_add(1, std::memory_order_release);
  os::futex_wake_one(notification_count);
}

void deliver_to_waiting(RankProcess& process) {
  // A rank that sleeps outside of MPI runs its handlers when it wakes.
  if (process.end_sleep()) return;
  const auto run = [](void* argument) {
    static_cast<RankProcess*>(argument)->signals().run_pending(Interrupts::library, nullptr);
  };
  SORREL_ASSERT(process.fiber() != nullptr, "rank %d has no fiber", process.rank());
  core::Fiber& fiber = *process.fiber();
  fiber.worker->visit(fiber, run, &process);
}

}  // namespace sorrel::program
