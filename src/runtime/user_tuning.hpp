//! user_tuning - the limits of collectives that the user has set by SORREL_TUNING, a file
//! (docs/collectives.md).
#pragma once

#include "mpi/base/tuning.hpp"
#include "runtime/config.hpp"

namespace sorrel::runtime {

/// The built-in limits, and those of the user's file. What is wrong with the file is printed by the
/// first process of the job. Removes the variable.
[[nodiscard]] mpi::TuningTable take_tuning_from_environment(const Config& config);

}  // namespace sorrel::runtime
