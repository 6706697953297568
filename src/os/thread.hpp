//! Threads: those that the program did not ask for, and how exactly one wakes.
#pragma once

namespace sorrel::os {

/// Starts a detached thread with every signal blocked: none of the program's arrives on it. False
/// if the system refuses.
bool start_background_thread(void* (*entry)(void* argument), void* argument);

/// How late the calling thread may wake from a timed sleep; the system's default is 50 us.
void set_timer_slack(long slack_ns);

}  // namespace sorrel::os
