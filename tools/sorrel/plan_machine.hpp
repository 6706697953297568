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

struct MeasureRequest {
  bool is_anew = false;         ///< though a result is kept
  bool is_kept_anyway = false;  ///< though the machine is busy
};

/// What was kept, unless `is_anew`; else starts ranks that measure, and says so on stderr. The
/// result is kept where the machine was quiet; else stderr has a line, and what was kept before
/// stays.
[[nodiscard]] Result<grid::Machine> this_machine(const MeasureRequest& request,
                                                 const Installation& installation);

/// Whether results that were measured so are not worth keeping.
[[nodiscard]] bool was_busy(const grid::Measurement& measurement);

/// "measured 2026-11-22 13:05 UTC, spread 4 %, other work 2 %"; what is not known is left out.
[[nodiscard]] std::string describe(const grid::Measurement& measurement);

/// Where the measurement is kept: $XDG_CACHE_HOME or ~/.cache, a file for each host.
[[nodiscard]] std::string kept_machine_path();

}  // namespace sorrel::tool
