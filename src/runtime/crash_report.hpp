//! CrashReport - a rank that receives a fatal signal ends the job with one line that names the
//! rank, and the calls that led to the signal.
//!
//! The handlers run on an alternate stack of each worker (signal_stack.hpp), because the usual
//! cause is the overflow of a rank's own stack. Their memory is set aside at the start of the job:
//! no allocation, no lock, no child process. Only the first crash is reported; a report that
//! does not go on for 2 seconds ends the process (report_deadline.hpp). A child that a rank has
//! forked dies of its signal, as without the handlers.
//! docs/decisions/0010-reports-without-a-child.md has the reasons.
#pragma once

#include <span>
#include <string_view>

#include "runtime/job.hpp"

namespace sorrel::runtime {

/// Installs the handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, for job_of_process().
void watch_for_crashes();
void stop_watching_for_crashes();

/// Whether there is a job, and the program has no handler of its own for `signal_number`.
[[nodiscard]] bool is_watching(int signal_number);

/// Ends the job of the process as an abort does: with a line that names the calling thread's rank
/// and states `what`, and with the calls that led here. Leaves out the first calls that lie in the
/// files of `left_out`. A thread that is not the first to end the job waits for the end.
[[noreturn]] void end_with_backtrace(std::string_view what, std::span<const void* const> left_out);

}  // namespace sorrel::runtime
