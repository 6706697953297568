//! The page of a report: one HTML file that needs no other and no network.
#pragma once

#include <string>

#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/report/analysis.hpp"

namespace sorrel::tool {

/// `title`: the name of the trace. `json`: of the analysis.
[[nodiscard]] std::string page_of(const std::string& title,
                                  const Json& json,
                                  const JobTrace& job,
                                  const WaitCauses& causes,
                                  const Analysis& analysis);

}  // namespace sorrel::tool
