//! The Config of this process, made from its environment.
#pragma once

#include "runtime/config.hpp"

namespace sorrel::runtime {

/// Reads the SORREL_* variables and removes them, so that children of the program do not inherit
/// them. A program started without `sorrel run` is a job of one rank, and so is one that runs with
/// other rights than its caller (AT_SECURE). Ends the process with one line if the job's variable
/// does not come from one `sorrel run`, or if it cannot join the job.
Config take_config_from_environment();

/// The result of the first call of take_config_from_environment(). Any thread, but the process's
/// first thread makes the first call.
const Config& process_config();

/// At the start of MPI: ends the process with one line if it is one of several that a launcher has
/// started without `sorrel run`, unless the user allows it (SORREL_HOST=none).
void refuse_split_job();

}  // namespace sorrel::runtime
