//! The start and the end of a job under a host MPI (transport/host): this process starts the MPI
//! that its launcher belongs to, and learns from it who else there is.
//!
//! `sorrel run` says in the environment which host MPI it is; how many processes there are, and
//! where, only that MPI knows. So what `run` decides for other jobs is decided here: workers,
//! cores, and ranks if the user named no number.
#pragma once

#include "runtime/config.hpp"

namespace sorrel::runtime {

/// Whether `sorrel run` has found a host MPI.
[[nodiscard]] bool has_host_in_environment();

/// Starts it and completes `config`, whose cpus are those that this process may use. Ends the
/// process, with one line, when that fails. On the process's first thread.
void join_host(Config& config);

/// The ranks of this process have ended: waits until those of all have, and stops the host MPI.
void leave_host(const Config& config);

/// This process is about to end the job, from the middle: ends all others where the launcher would
/// not do so by itself. Returns otherwise.
void abort_host(int status);

/// This process ends the job early: its parent shall say nothing. Async-signal-safe.
void note_host_ending();

}  // namespace sorrel::runtime
