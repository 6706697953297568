//! The machine that `sorrel plan` plans for: a file, one of those that come along, or this machine,
//! measured once and kept.
#pragma once

#include <string>

#include <sorrel/grid/machine.hpp>
#include <sorrel/result.hpp>

#include "tools/sorrel/installation.hpp"

namespace sorrel::tool {

/// A file of that path, else one that comes along under that name.
[[nodiscard]] Result<grid::Machine> named_machine(const std::string& name,
                                                  const Installation& installation);

/// What was kept, unless `is_measured_anew`; else starts ranks that measure, says so on stderr, and
/// keeps the result.
[[nodiscard]] Result<grid::Machine> this_machine(bool is_measured_anew,
                                                 const Installation& installation);

/// Where the measurement is kept: $XDG_CACHE_HOME or ~/.cache, a file for each host.
[[nodiscard]] std::string kept_machine_path();

}  // namespace sorrel::tool
