//! Ranks in place: the program runs as it is, in a process of its own, and the thread that calls
//! MPI_Init becomes the process's only rank, on the stack it has.
//!
//! For programs that cannot share a process (`sorrel run -n N --procs N`) and for those that load
//! this library by themselves, late (an interpreter). Such a process has no private copies, no rank
//! streams, and exit() means what it always does.
#pragma once

namespace sorrel::runtime {

/// Whether the program is to be started as it is. At the process's start.
[[nodiscard]] bool runs_in_place();

/// Right before such a program's main.
void begin_in_place();

/// First thing in MPI_Init: makes the caller a rank if it is none and may become one, that is, if
/// this process was started in place, or was not started by us at all.
void adopt_calling_thread();

/// Whether that could still happen.
[[nodiscard]] bool awaits_init();

}  // namespace sorrel::runtime
