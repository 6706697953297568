#include "program/state/signal_table.hpp"

#include <array>
#include <atomic>
#include <pthread.h>
#include <utility>

#include "base/check.hpp"
#include "os/thread.hpp"
#include "program/base/fork_hold.hpp"
#include "program/base/libc.hpp"
#include "program/state/signal_mask.hpp"

namespace sorrel::program {

namespace {

constexpr int signal_count = 64;

/// The process's action for a signal, under the lock.
struct ProcessAction {
  struct sigaction original{};
  bool is_original_known = false;
  /// A rank has blocked the signal at least once.
  bool is_caught = false;
  /// A rank has had a handler. The delivery thread may have sent the signal to a worker's thread,
  /// where it arrives later: not with the action by default.
  bool was_handled = false;
  int handler_count = 0;
  int ignore_count = 0;
  /// Number of handlers without SA_RESTART.
  int interrupting_count = 0;
};

std::array<ProcessAction, signal_count + 1> process_actions;

struct TableLock {
  std::atomic_flag is_taken;
  /// The mask of the thread that forks.
  sigset_t mask_before_fork{};
};

TableLock table_lock;

// Written before the first rank runs.
void (*process_handler)(int number, siginfo_t* info, void* context) = nullptr;

void (*own_action_observer)(int number) = nullptr;

auto* real_sigaction() {
  static auto* const real = next_definition<decltype(::sigaction)>("sigaction");
  return real;
}

int set_thread_mask(int how, const sigset_t& set, sigset_t* before) {
  static auto* const real = next_definition<decltype(::pthread_sigmask)>("pthread_sigmask");
  return real(how, &set, before);
}

ProcessAction& process_action(int number) {
  SORREL_ASSERT(number >= 1 && number <= signal_count, "signal %d", number);
  return process_actions[static_cast<std::size_t>(number)];
}

/// Under the lock: installs the action that combines those of all ranks.
void install(int number) {
  ProcessAction& action = process_action(number);
  SORREL_ASSERT(process_handler != nullptr, "signal %d has an action before ranks", number);
  SORREL_ASSERT(action.handler_count >= 0 && action.ignore_count >= 0 &&
                    action.interrupting_count >= 0 &&
                    action.interrupting_count <= action.handler_count,
                "signal %d: %d handlers, %d of them interrupting, %d ignore it", number,
                action.handler_count, action.interrupting_count, action.ignore_count);
  struct sigaction combined = original_action(number);
  const bool is_fault = (faults & mask_of(number)) != 0;
  const bool is_ignored = action.ignore_count > 0 && !is_fault;
  action.was_handled |= action.handler_count > 0;
  const bool may_arrive_late =
      action.was_handled && !is_ignored && ((faults | harmless) & mask_of(number)) == 0;
  if (action.handler_count > 0 || action.is_caught || may_arrive_late) {
    combined = {};
    combined.sa_sigaction = process_handler;
    // A handler may be left by a switch or a jump, so the signal must not stay blocked.
    combined.sa_flags = SA_SIGINFO | SA_NODEFER;
    if (action.interrupting_count == 0) combined.sa_flags |= SA_RESTART;
    // The fault may concern the rank's stack.
    if (is_fault) combined.sa_flags |= SA_ONSTACK;
  } else if (is_ignored) {
    combined.sa_handler = SIG_IGN;
  }
  real_sigaction()(number, &combined, nullptr);
}

/// Returns the mask of the calling thread, which receives no signal from now on.
sigset_t lock_table() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  set_thread_mask(SIG_SETMASK, all, &before);
  while (table_lock.is_taken.test_and_set(std::memory_order_acquire))
    os::yield_core();
  return before;
}

void unlock_table(const sigset_t& mask_before) {
  table_lock.is_taken.clear(std::memory_order_release);
  set_thread_mask(SIG_SETMASK, mask_before, nullptr);
}

void lock_for_fork() {
  const sigset_t before = lock_table();
  table_lock.mask_before_fork = before;
}

void unlock_after_fork() {
  const sigset_t before = table_lock.mask_before_fork;
  unlock_table(before);
}

}  // namespace

void set_process_handler(void (*handler)(int number, siginfo_t* info, void* context)) {
  SORREL_ASSERT(process_handler == nullptr || process_handler == handler, "there are two handlers");
  process_handler = handler;
  // A thread that does not exist in a child must not hold the lock there.
  hold_over_forks(lock_for_fork, unlock_after_fork);
}

bool can_be_caught(int number) {
  return number >= 1 && number <= signal_count && number != SIGKILL && number != SIGSTOP &&
         !(number >= 32 && number < SIGRTMIN);
}

void observe_own_actions(void (*observe)(int number)) {
  own_action_observer = observe;
}

void report_own_action(int number) {
  if (own_action_observer != nullptr) own_action_observer(number);
}

const struct sigaction& original_action(int number) {
  ProcessAction& action = process_action(number);
  if (!action.is_original_known) {
    action.is_original_known = true;
    real_sigaction()(number, nullptr, &action.original);
  }
  return action.original;
}

void restore_original_action(int number) {
  real_sigaction()(number, &process_action(number).original, nullptr);
}

void set_action_of_child(int number, const struct sigaction* action) {
  if (action != nullptr) {
    real_sigaction()(number, action, nullptr);
  } else if (process_action(number).ignore_count > 0) {
    restore_original_action(number);
  }
}

SignalTableLock::SignalTableLock() : before_(lock_table()) {}

SignalTableLock::~SignalTableLock() {
  unlock_table(before_);
}

struct sigaction inherited_action(int number) {
  struct sigaction action = original_action(number);
  // Handlers installed before the ranks are the runtime's.
  if (is_handler(action)) {
    action = {};
    action.sa_handler = SIG_DFL;
  }
  return action;
}

void catch_blocked_signal(int number) {
  if (!can_be_caught(number) || (faults & mask_of(number)) != 0) return;
  if (std::atomic_ref(process_action(number).is_caught).load(std::memory_order_relaxed)) return;
  const SignalTableLock lock;
  std::atomic_ref(process_action(number).is_caught).store(true, std::memory_order_relaxed);
  install(number);
}

void apply_action_change(int number, const struct sigaction& before, const struct sigaction& now) {
  const struct sigaction original = original_action(number);
  ProcessAction& action = process_action(number);
  for (const auto& [changed, step] : {std::pair{&before, -1}, std::pair{&now, 1}}) {
    if (is_handler(*changed)) {
      action.handler_count += step;
      if ((changed->sa_flags & SA_RESTART) == 0) action.interrupting_count += step;
    } else if (changed->sa_handler == SIG_IGN && original.sa_handler != SIG_IGN) {
      action.ignore_count += step;
    }
  }
  install(number);
}

}  // namespace sorrel::program
