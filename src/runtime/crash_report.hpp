//! CrashReport - a rank that receives a deadly signal ends the job with one line that names it, and
//! where it was.
//!
//! The handlers run on an alternate stack of each worker, because the usual reason is that a rank's
//! own is used up. They use nothing that allocates before the first line is out.
#pragma once

namespace sorrel::runtime {

class Job;

/// Installs the handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. One job at a time.
void watch_for_crashes(Job& job);
void stop_watching_for_crashes();

/// Gives the calling thread its alternate stack, or takes it back.
void install_signal_stack();
void remove_signal_stack();

}  // namespace sorrel::runtime
