//! PlanNotes - what `sorrel run --verbose` says about a plan: placement, messages, the simulated
//! network, threads, balance. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/sorrel/run/run_plan.hpp"

namespace sorrel::tool {

/// "4 ranks in 2 processes of 1 worker".
[[nodiscard]] std::string describe(const launch::PartSpec& part);

/// One line each. `has_threads`: --omp.
[[nodiscard]] std::vector<std::string> notes_on(const RunPlan& plan, bool has_threads);

}  // namespace sorrel::tool
