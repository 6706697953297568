//! cold_start - how much longer a rank computes because other ranks have used the caches of its
//! core.
#pragma once

#include <cstdint>

#include "tools/sorrel/report/job_trace.hpp"

namespace sorrel::tool {

/// Nanoseconds for each time that a rank goes on computing after it has waited in a call: the
/// median of such computing less that of computing between the same two calls without a wait. The
/// mean over all pairs of calls that the trace has often in both ways; 0 if there are none.
[[nodiscard]] std::int64_t cold_start_ns(const JobTrace& job);

}  // namespace sorrel::tool
