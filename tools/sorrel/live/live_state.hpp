//! live_state - what a live page shows of a job at a moment, as JSON of limited size. Pure.
#pragma once

#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/view/job_page.hpp"

namespace sorrel::tool {

/// Rows of ranks that do the same, at most.
inline constexpr std::size_t live_row_count_max = 40;

/// `before`: an earlier view of the job.
[[nodiscard]] Json live_state(const RunningJob& job, const JobView& before, const JobView& now);

}  // namespace sorrel::tool
