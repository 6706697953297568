//! SignalTable - the process's table of signal actions, which combines those of all ranks.
//!
//! The process has one handler (signal_delivery.hpp) for each signal that a rank handles or has
//! blocked. Any thread, under the SignalTableLock where nothing else is said.
#pragma once

#include <csignal>

namespace sorrel::program {

/// Held while dispositions change; the calling thread receives no signal meanwhile.
class SignalTableLock {
 public:
  SignalTableLock();
  ~SignalTableLock();
  SignalTableLock(const SignalTableLock&) = delete;
  SignalTableLock& operator=(const SignalTableLock&) = delete;

 private:
  sigset_t before_;
};

/// Before the first rank runs: the process's handler of every signal that a rank handles or blocks.
void set_process_handler(void (*handler)(int number, siginfo_t* info, void* context));

[[nodiscard]] inline bool is_handler(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/// Whether a rank can have an action of its own for the signal; the system handles the others, and
/// the C library has reserved some.
[[nodiscard]] bool can_be_caught(int number);

/// Calls `observe(number)` before the program changes an action of the process itself, as programs
/// do that have a process for each rank. Before the program runs.
void observe_own_actions(void (*observe)(int number));
void report_own_action(int number);

/// The action before any rank ran.
[[nodiscard]] const struct sigaction& original_action(int number);
void restore_original_action(int number);

/// The initial action of a rank that has set none.
[[nodiscard]] struct sigaction inherited_action(int number);

/// In a child process, which has one thread: takes the action of the rank that has forked. Null:
/// the rank has set none.
void set_action_of_child(int number, const struct sigaction* action);

/// A rank blocks the signal: from now on the process records it for ranks that block it.
void catch_blocked_signal(int number);

/// A rank's action has changed: installs or removes the process's handler.
void apply_action_change(int number, const struct sigaction& before, const struct sigaction& now);

}  // namespace sorrel::program
