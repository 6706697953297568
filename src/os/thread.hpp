//! Threads: those that the program did not ask for, and how exactly one wakes.
#pragma once

namespace sorrel::os {

/// Starts a detached thread with every signal blocked but those of its own faults: none of the
/// program's arrives on it. False if the system refuses.
bool start_background_thread(void* (*entry)(void* argument), void* argument);

/// Lets other threads of the machine have the calling thread's core. The bare system call: in a
/// rank, sched_yield() lets other ranks run (program/sleep.cpp).
void yield_core();

/// How late the calling thread may wake from a timed sleep; the system's default is 50 us.
void set_timer_slack(long slack_ns);

}  // namespace sorrel::os
