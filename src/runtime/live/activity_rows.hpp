//! ActivityRows - the table of what the ranks of a process do, with the lines of their sources.
#pragma once

#include "report/wait_table.hpp"
#include "runtime/base/job_view.hpp"
#include "runtime/live/activity_answers.hpp"

namespace sorrel::runtime {

/// Allocates and may read debug sections of the program's files.
[[nodiscard]] report::WaitTable activity_rows(const JobView& job, const ActivityAnswers& answers);

}  // namespace sorrel::runtime
