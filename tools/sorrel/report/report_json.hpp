//! The analysis of a trace as JSON: what `sorrel report --json` writes, and what its page shows.
#pragma once

#include <string_view>

#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/report/advice.hpp"
#include "tools/sorrel/report/analysis.hpp"

namespace sorrel::tool {

[[nodiscard]] Json json_of(const JobTrace& job, const Analysis& analysis, const Outlook& outlook);

/// "computes", a kind of the steps of the critical path.
[[nodiscard]] std::string_view key_of(PathKind kind);
/// "in_flight", what lies behind waiting.
[[nodiscard]] std::string_view key_of(RootKind kind);

}  // namespace sorrel::tool
