//! The critical path of a job: from its end back to its begin, always along what ended last. If a
//! rank ran as soon as its worker was free, the path goes on with the rank that ran before; if its
//! worker was idle, with the rank that sent the message, or came last to the collective.
//!
//! Shortening anything off this path makes the job no faster.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/sorrel/report/job_trace.hpp"
#include "tools/sorrel/report/wait_causes.hpp"

namespace sorrel::tool {

enum class PathKind : std::uint8_t {
  computes,   ///< before the call at `site`
  in_mpi,     ///< in the call, on a core
  in_flight,  ///< the message or the collective, while the worker of the receiver is idle
  waits,      ///< for something that the trace does not have
  scheduling  ///< the worker is between two ranks
};

struct PathStep {
  PathKind kind = PathKind::computes;
  std::uint32_t rank = 0;         ///< index
  std::uint32_t site = no_index;  ///< no_index: after the last call of the rank
  Interval time;
};

/// In the order of time; without gaps, so the steps' times add up to the time of the job.
[[nodiscard]] std::vector<PathStep> find_critical_path(const JobTrace& job,
                                                       const WaitCauses& causes);

}  // namespace sorrel::tool
