//! ActivityRows - the table of what the ranks of a process do, with the lines of their sources.
#pragma once

#include "runtime/activity_answers.hpp"
#include "runtime/job.hpp"
#include "runtime/wait_table.hpp"

namespace sorrel::runtime {

/// Allocates and may read debug sections of the program's files.
[[nodiscard]] WaitTable activity_rows(const Job& job, const ActivityAnswers& answers);

}  // namespace sorrel::runtime
