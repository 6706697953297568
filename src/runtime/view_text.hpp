//! ViewText - the answer of this process to a request to look into it, as ProcessView::text().
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/fixed_text.hpp"
#include "report/process_view.hpp"
#include "runtime/activity_answers.hpp"
#include "runtime/activity_description.hpp"
#include "runtime/job.hpp"

namespace sorrel::runtime {

/// Allocates, and may read debug sections of the program's files.
[[nodiscard]] std::string view_text(const Job& job,
                                    const ActivityAnswers& answers,
                                    std::size_t bytes_max);

using ShortViewText = FixedText<8000>;

/// The view of the only rank of the process. `stack`: null if not wanted. Does not allocate.
[[nodiscard]] ShortViewText view_text_of_rank(const Job& job,
                                              const mpi::RankState& rank,
                                              const ActivityDescription& description,
                                              const std::optional<report::RankMemory>& memory,
                                              const RankStack* stack,
                                              const PythonStack& python);

/// The view of a process without ranks. Does not allocate.
[[nodiscard]] ShortViewText view_text_without_ranks(report::ProcessView::Stage stage);

}  // namespace sorrel::runtime
