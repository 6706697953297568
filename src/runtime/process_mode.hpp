//! Process mode: the program runs as it is, in a process of its own. The thread that calls MPI_Init
//! becomes the process's only rank, on its present stack.
//!
//! For programs that cannot share a process (`sorrel run -n N --procs N`), and for those that load
//! this library late, by themselves (an interpreter). Such a process has no privatized images and
//! no rank streams, and exit() ends the process.
#pragma once

namespace sorrel::runtime {

/// Whether the program runs in process mode. Called at the process's start.
[[nodiscard]] bool is_process_mode();

/// Called immediately before the main of such a program.
void begin_process_mode();

/// Called first in MPI_Init: makes the caller a rank if it is none and may become one. That is so
/// if this process was started in process mode, or was not started by this library.
void attach_calling_thread();

/// Whether a later MPI_Init may still make its caller a rank.
[[nodiscard]] bool awaits_init();

}  // namespace sorrel::runtime
