//! Threads: background threads of the library, yielding, and the precision of timed sleeps.
#pragma once

#include <sys/types.h>

namespace sorrel::os {

/// Starts a detached thread with all signals blocked except those of its own faults, so that no
/// signal for the program arrives on it. Returns false if the system call fails.
bool start_background_thread(void* (*entry)(void* argument), void* argument);

/// Sends a signal to a thread of this process. Its handler sees SI_QUEUE as code and `tag` as
/// value, which tells it from signals of others. Any thread, and signal handlers; false if the
/// thread has ended.
bool interrupt_thread(pid_t thread, int signal_number, const void* tag);

/// Yields the calling thread's core to other threads of the machine. The bare system call: in a
/// rank, sched_yield() lets other ranks run (program/waits/sleep.cpp).
void yield_core();

/// Maximum delay of the calling thread's wake-up from a timed sleep; the system's default is 50 us.
void set_timer_slack(long slack_ns);

}  // namespace sorrel::os
