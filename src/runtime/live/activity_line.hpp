//! ActivityLine - what the only rank of a process does, as one line, made in a signal handler.
#pragma once

#include <optional>
#include <string_view>

#include "base/fixed_text.hpp"
#include "mpi/match/rank_state.hpp"
#include "report/wait_table.hpp"
#include "runtime/live/activity_description.hpp"

namespace sorrel::runtime {

/// What reads the line.
enum class ActivityReader { user, launcher };

using ActivityLine = FixedText<1000>;

/// A sentence for the user, or fields as WaitTable::text() for the launcher. `memory`: its heap, if
/// it has one. Does not allocate.
[[nodiscard]] ActivityLine activity_line(const mpi::RankState& rank,
                                         const ActivityDescription& description,
                                         const std::optional<report::RankMemory>& memory,
                                         std::string_view place_in_python,
                                         ActivityReader reader);

}  // namespace sorrel::runtime
