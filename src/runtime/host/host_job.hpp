//! Start and end of a job under a host MPI (transport/host): this process initialises the MPI of
//! its launcher, and gets the list of processes from it.
//!
//! `sorrel run` passes the kind of host MPI on (launch::HostSpec). Only that MPI knows the number
//! of processes and their nodes. So the decisions that `run` makes for other jobs are made here:
//! workers, cores, and the number of ranks if the user gave none.
#pragma once

#include "runtime/config.hpp"

namespace sorrel::runtime {

/// If `sorrel run` has found a host MPI: starts it and completes `config`, whose cpus are those
/// that this process may use. On failure it ends the process with one line. On the process's first
/// thread.
void join_host(Config& config);

/// Called when the ranks of this process have ended: waits for all ranks, and stops the host MPI.
void leave_host(const Config& config);

/// Records an early end of the job: this process's parent reports nothing. Async-signal-safe.
void record_host_ending();

}  // namespace sorrel::runtime
