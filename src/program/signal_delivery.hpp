//! SignalDelivery - how signals come to ranks.
//!
//! The process has one handler for each signal that a rank has a handler for. It only notes which
//! ranks are to have it; a fault is the running rank's, and its handler runs at once. A thread of
//! the library, made when the first rank asks for a handler or an alarm, brings what is noted to
//! the ranks: it interrupts the worker's thread of a rank that runs, with the same signal, so that
//! system calls end as they would; it calls the worker of a rank that waits
//! (Worker::request_attention). It goes on until the rank has run its handler, so that nothing is
//! lost when the rank stops or begins to run meanwhile.
#pragma once

#include <csignal>
#include <vector>

namespace sorrel::core {
class Worker;
}

namespace sorrel::program {

class RankProcess;

/// Before the first rank runs: the ranks of this process. They outlive the process's last signal.
void set_signal_targets(std::vector<RankProcess*> processes);

/// Starts the thread, if it does not run, and tells it that something has come. Any thread and
/// signal handlers, but for the start.
void start_signal_delivery();
void tell_signal_delivery();

/// On the worker of a rank that has work and waits, in MPI or outside; outside of any fiber.
void deliver_to_waiting(RankProcess& process);

// The process's table of actions, for RankSignals.

/// Held while dispositions change; the calling thread takes no signal meanwhile.
class SignalTableLock {
 public:
  SignalTableLock();
  ~SignalTableLock();
  SignalTableLock(const SignalTableLock&) = delete;
  SignalTableLock& operator=(const SignalTableLock&) = delete;

 private:
  sigset_t before_;
};

/// What a rank has that has said nothing.
[[nodiscard]] struct sigaction inherited_action(int number);

/// A rank blocks the signal: from now on the process notes it for those that do.
void catch_blocked_signal(int number);

/// A rank's action has changed: installs or takes away the process's handler.
void note_action_change(int number, const struct sigaction& before, const struct sigaction& now);

}  // namespace sorrel::program
