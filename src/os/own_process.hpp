//! OwnProcess - the process in which the library has started. A child that it forks has a copy of
//! its memory and one thread, and is another process.
#pragma once

namespace sorrel::os {

/// The calling process is the one, unless there is one already. Before the program can fork.
void record_own_process();

/// Whether the caller is a child that the recorded process has forked. Safe in signal handlers; a
/// system call.
[[nodiscard]] bool is_forked_child();

}  // namespace sorrel::os
