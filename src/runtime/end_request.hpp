//! EndRequest - SIGTERM of a batch system or of timeout(1), which send it to all processes of a job
//! at once: the process waits, so that the flight recorder of `sorrel run` can look into it before
//! it dies.
//!
//! The recorder passes the signal on, and the process dies of that one. Without it, for example
//! because the signal was sent to this process alone, the process dies after 5 seconds
//! (report_deadline.hpp). Only in jobs with a recorder (docs/flight.md).
#pragma once

namespace sorrel::runtime {

/// After watch_for_crashes(): unless the program has an action for SIGTERM. No effect in a job
/// without a recorder.
void watch_for_end_requests();

}  // namespace sorrel::runtime
