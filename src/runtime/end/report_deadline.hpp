//! ReportDeadline - ends the process if the report of a crash does not go on for 2 seconds. A
//! report that waits for a lock, or for a reader of standard error, must not keep the job. One that
//! waits for a core of a busy machine goes on: as long as it gets some processor time, for a minute
//! in all, and 4 seconds of processor time.
//!
//! A timer's signal runs on any thread that has not blocked it. A second timer kills the process if
//! the first does not end it. The timers are made at the start of the job.
#pragma once

namespace sorrel::runtime {

/// Makes the timers and installs the handler. One job at a time.
void prepare_report_deadline();

/// Deletes the timers.
void release_report_deadline();

/// Safe in a signal handler, any thread: the calling thread writes the report of this process,
/// which ends with `status` when the report does not go on.
void limit_own_report(int status);

/// Safe in a signal handler, any thread: the calling thread waits for the end of a job that another
/// thread or process ends, for 4 seconds.
void limit_foreign_report(int status);

/// Safe in a signal handler, any thread: the process dies of this signal after 5 seconds, unless a
/// report has begun.
void limit_life(int signal_number);

}  // namespace sorrel::runtime
