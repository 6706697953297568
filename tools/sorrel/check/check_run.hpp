//! CheckRun - `sorrel run --check`: prints and writes what the checker has found in a job, or in
//! several schedules of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

#include "launch/exit_status.hpp"
#include "tools/sorrel/check/findings.hpp"

namespace sorrel::tool {

/// What the user asks for.
struct CheckRequest {
  bool is_wanted = false;  ///< --check
  std::string schedules;   ///< --schedules, a number; "": none
  std::string json;        ///< a file; "": none
  std::string sarif;       ///< a file; "": none

  [[nodiscard]] bool any() const {
    return is_wanted || !schedules.empty() || !json.empty() || !sarif.empty();
  }
};

/// Makes a temporary folder for the findings.
[[nodiscard]] Result<std::string> make_check_folder();

/// What a check has come to.
struct CheckResult {
  /// exit_findings; without findings 0, or after several schedules the job's; 1 if a file cannot be
  /// written or read.
  int status = 0;
  std::vector<Found> findings;
};

/// Prints the findings of the job on standard error, writes the files that were asked for, and
/// removes the folder. `process_count`: of the job, for what has not been seen.
[[nodiscard]] CheckResult finish_check(const CheckRequest& request,
                                       const std::string& folder,
                                       std::uint32_t process_count);

/// finish_check() for one process of a job under a host MPI. Only the first process reports that it
/// has found nothing; the others add their number to the names of the files.
[[nodiscard]] CheckResult finish_host_check(const CheckRequest& request,
                                            const std::string& folder,
                                            std::uint32_t process,
                                            std::uint32_t process_count);

/// Runs the job with the seeds 1 to `count`, each in a child process: `run(seed, folder)` returns
/// its exit status. Stops after the first if nothing in it depended on an order. Reports as
/// finish_check() what was found in any, with the command that repeats it, `replay(seed)`. Without
/// findings the status is that of the job.
[[nodiscard]] CheckResult explore_schedules(
    const CheckRequest& request,
    std::uint64_t count,
    const std::function<std::string(std::uint64_t seed)>& replay,
    const std::function<int(std::uint64_t seed, const std::string& folder)>& run);

}  // namespace sorrel::tool
