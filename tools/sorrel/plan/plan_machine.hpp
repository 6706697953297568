//! The machine that `sorrel plan` plans for: a file, one of the installed machine files, or this
//! machine, measured once and kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sorrel/grid/machine.hpp>
#include <sorrel/result.hpp>

#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

/// The machine file of that path, else the installed one of that name.
[[nodiscard]] Result<grid::Machine> named_machine(const std::string& name,
                                                  const Installation& installation);

struct MeasureRequest {
  bool is_anew = false;         ///< measure even if a result is kept
  bool is_kept_anyway = false;  ///< keep even if the machine is busy
};

/// The kept result, unless `is_anew`; else starts ranks that measure, with a note on stderr. The
/// result is kept if the machine was quiet. Otherwise stderr gets a line, and the earlier result
/// stays.
[[nodiscard]] Result<grid::Machine> this_machine(const MeasureRequest& request,
                                                 const Installation& installation);

/// A cluster, measured through the launcher of its MPI.
struct ClusterRequest {
  std::vector<std::string> launcher;  ///< its command, such as mpiexec -n 4
  std::int64_t process_count = 0;     ///< that the launcher starts
  std::string file;                   ///< the machine file to write
  bool is_kept_anyway = false;        ///< write it even if this machine is busy
};

/// Starts ranks on all nodes that measure. The file is written if this machine was quiet.
[[nodiscard]] Result<grid::Machine> measured_cluster(const ClusterRequest& request,
                                                     const Installation& installation);

/// Whether other work or the spread was too large for the result to be kept.
[[nodiscard]] bool was_busy(const grid::Measurement& measurement);

/// "measured 2026-11-22 13:05 UTC, spread 4 %, other work 2 %"; unknown values are left out.
[[nodiscard]] std::string describe(const grid::Measurement& measurement);

/// The file of the kept measurement: in $XDG_CACHE_HOME or ~/.cache, one for each host.
/// "": there is no folder for it.
[[nodiscard]] std::string kept_machine_path();

}  // namespace sorrel::tool
