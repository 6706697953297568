//! Threads: background threads of the library, yielding, and the precision of timed sleeps.
#pragma once

#include <cstdint>
#include <sys/types.h>

#include "os/yield_limit.hpp"

namespace sorrel::os {

/// Starts a detached thread with all signals blocked except those of its own faults, so that no
/// signal for the program arrives on it. Returns false if the system call fails.
bool start_background_thread(void* (*entry)(void* argument), void* argument);

/// Sends a signal to a thread of this process. Its handler sees SI_QUEUE as code and `tag` as
/// value, which tells it from signals of others. Any thread, and signal handlers; false if the
/// thread has ended.
bool interrupt_thread(pid_t thread, int signal_number, const void* tag);

/// Waits until the system has no such thread of this process, for at most a second. A thread that
/// has returned still counts as one of the process for a moment.
void wait_for_thread_end(pid_t thread);

/// Yields the calling thread's core to other threads of the machine. False, without a yield, after
/// yields that took long: then it is better to sleep. The bare system call: in a rank,
/// sched_yield() lets other ranks run (program/waits/yield.cpp).
bool try_to_yield_core(YieldLimit& limit);

/// Yields the core, or sleeps 20 us where a limit of the thread forbids that.
void yield_core();

/// Maximum delay of the calling thread's wake-up from a timed sleep; the system's default is 50 us.
void set_timer_slack(long slack_ns);

}  // namespace sorrel::os
