//! OptionConflict - the table of options of `sorrel run` that exclude each other. Pure.
#pragma once

#include <string>

#include "tools/sorrel/common/host.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/run/run_options.hpp"

namespace sorrel::tool {

/// One line about the first conflict between the options, or between them and the host MPI or the
/// program; "" if there is none.
[[nodiscard]] std::string option_conflict(const RunOptions& options,
                                          const RunRequest& request,
                                          const Host& host,
                                          const ProgramReport& program);

}  // namespace sorrel::tool
