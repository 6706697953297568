//! CrashReport - a rank that receives a deadly signal ends the job with one line that names it, and
//! where it was.
//!
//! The handlers run on an alternate stack of each worker, because the usual reason is that a rank's
//! own is used up. What they use is set aside at the start of the job: no allocation, no lock, no
//! child. The report of the first crash is the only one; it ends the process within 2 seconds
//! (report_deadline.hpp). A child that a rank has forked dies of its signal, as without the
//! handlers. docs/decisions/0010-reports-without-a-child.md has the reasons.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sorrel::runtime {

class Job;

/// Installs the handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. One job at a time.
void watch_for_crashes(Job& job);
void stop_watching_for_crashes();

/// Whether a job is watched, and the program has no handler for `signal_number` of its own.
[[nodiscard]] bool is_watching(int signal_number);

/// Ends the watched job as a crash does: with a line that names the calling thread's rank and says
/// `what`, and the calls that led here, without the first ones that lie in the files of `left_out`.
/// A thread that is not the first to end the job waits for the end.
[[noreturn]] void end_with_backtrace(std::string_view what,
                                     int status,
                                     std::span<const void* const> left_out);

/// Gives the calling thread its alternate stack, or takes it back.
void install_signal_stack();
void remove_signal_stack();

}  // namespace sorrel::runtime
