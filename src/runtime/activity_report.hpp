//! ActivityReport - SIGUSR1 makes a job write on standard error what each rank does, and continue.
//!
//! A rank's state belongs to its worker's thread. In a process of several ranks the thread of
//! StallWatch writes the report: it interrupts each worker's thread, whose handler describes the
//! ranks of its workers, and waits for the answers for a limited time. A thread that sleeps in a
//! system call which a signal would end is left alone, and one that does not answer too: of their
//! ranks the report has what any thread may read. In a process of one rank the handler itself
//! writes. No handler allocates, takes a lock or waits. A handler of the program takes the place of
//! this one.
#pragma once

#include <csignal>

namespace sorrel::runtime {

class Job;

/// Once, before the program runs, or later if it has no handler of SIGUSR1: from now on the signal
/// does not end the process.
void watch_for_activity_requests();

/// Announces to the launcher whether the signal is handled here, or by the program.
void announce_handler(bool is_own);

/// Whether the signal concerns the runtime only, and no rank. Safe in signal handlers.
[[nodiscard]] bool is_of_runtime(const siginfo_t& info);

/// Before the first rank runs: the only job of the process, which lasts as long as the process.
void report_activity_of(Job& job);

}  // namespace sorrel::runtime
