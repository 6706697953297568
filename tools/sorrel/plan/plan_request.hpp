//! PlanRequest - the parsed arguments of `sorrel plan`.
//!
//! Pure: reads arguments and reports the first that is wrong; reads neither files nor the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sorrel/grid/multigrid_plan.hpp>
#include <sorrel/grid/problem.hpp>

#include "tools/sorrel/common/command.hpp"

namespace sorrel::tool {

struct PlanRequest {
  grid::Problem problem;
  int rank_count = 0;
  std::string machine;  ///< a file or a name; "": this machine
  bool is_measured_anew = false;
  bool is_kept_anyway = false;        ///< keep the measurement even if the machine is busy
  std::vector<std::string> launcher;  ///< starts the ranks that measure; none: this machine alone
  std::int64_t process_count = 1;     ///< that the launcher starts
  bool wants_json = false;
  std::string picture;  ///< a file to write, or ""
  int table_rows = 8;
  std::optional<grid::MultigridOptions> multigrid;  ///< plans for each level, if requested
};

/// The request, or the exit status after the help or an error was printed.
struct ReadRequest {
  std::optional<PlanRequest> request;
  int status = 0;
};

[[nodiscard]] ReadRequest read_plan_request(Arguments arguments);

}  // namespace sorrel::tool
