//! Threads that the program did not ask for: no signal of the program's arrives on them.
#pragma once

namespace sorrel::os {

/// Starts a detached thread with every signal blocked. False if the system refuses.
bool start_background_thread(void* (*entry)(void* argument), void* argument);

}  // namespace sorrel::os
