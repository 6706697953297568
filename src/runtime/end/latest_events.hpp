//! LatestEvents - the last events of this process's workers, as lines of a report that ends the
//! job.
#pragma once

#include "runtime/base/job_view.hpp"

namespace sorrel::runtime {

/// Writes on standard error, for each worker, which ranks waited, ended or continued last, in which
/// call, and how long before now: at most 4 lines for a worker, and 16 in all. Nothing if there are
/// none. Any thread, also while workers run. Safe in a signal handler: no allocation, no lock.
void write_latest_events(const JobView& job);

}  // namespace sorrel::runtime
