//! HostSession - the host MPI in this process: its start by the plugin, the list of the job's
//! processes, its end.
#pragma once

#include "launch/job_spec.hpp"
#include "transport/host/host_transport.hpp"

namespace sorrel::runtime {

/// Starts the host MPI and gathers the members of the job; ends the process with one line on
/// failure. The signal handlers stay as they are. At most once, on the process's first thread.
[[nodiscard]] transport::HostJob& begin_host_session(const launch::HostSpec& spec);

/// Waits until no process needs another one, and stops the host MPI.
void end_host_session(transport::HostJob& job);

/// Whether the launcher lets the other processes continue when one has failed.
[[nodiscard]] bool must_end_others();

/// Called before this process ends the job early: ends all other processes if the launcher would
/// not do so by itself. Returns otherwise.
void abort_host(int status);

}  // namespace sorrel::runtime
