//! ViewText - the answer of this process to a request to look into it, as ProcessView::text().
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/fixed_text.hpp"
#include "report/process_view.hpp"
#include "runtime/base/job_view.hpp"
#include "runtime/live/activity_answers.hpp"
#include "runtime/live/activity_description.hpp"

namespace sorrel::runtime {

/// Allocates, and may read debug sections of the program's files.
[[nodiscard]] std::string view_text(const JobView& job,
                                    const ActivityAnswers& answers,
                                    std::size_t bytes_max);

using ShortViewText = FixedText<8000>;

/// The view of the only rank of the process. `stack`: null if not wanted. Does not allocate.
[[nodiscard]] ShortViewText view_text_of_rank(const JobView& job,
                                              const mpi::RankState& rank,
                                              const ActivityDescription& description,
                                              const std::optional<report::RankMemory>& memory,
                                              const RankStack* stack,
                                              const PythonStack& python);

/// The view of a process without ranks. Does not allocate.
[[nodiscard]] ShortViewText view_text_without_ranks(report::ProcessView::Stage stage);

}  // namespace sorrel::runtime
