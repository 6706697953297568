//! RunPlan - how `sorrel run` runs a program: the number of ranks, processes and workers, their
//! cpus, and the settings of a simulated network, a seeded schedule or a host MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/job_spec.hpp"
#include "tools/sorrel/common/host.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/run/process_choice.hpp"
#include "tools/sorrel/run/run_options.hpp"

namespace sorrel::tool {

struct RunPlan {
  /// What is the same in every process of the job, and without what its start adds.
  launch::JobSpec job;
  std::optional<ProcessChoice> choice;  ///< of --procs auto
  /// There are more cores than ranks, for the ranks' OpenMP threads: ranks are not bound.
  bool has_room_for_threads = false;
  std::vector<int> cpus;  ///< process by process; empty: not bound
  std::string share;
  /// Under a host MPI, which decides the number of processes; ranks and workers are 0 if no
  /// number was given.
  Host host;

  /// The part of `cpus` for process `index`.
  [[nodiscard]] std::span<const int> cpus_of(std::uint32_t index) const {
    const std::size_t count = cpus.empty() ? 0 : job.worker_count;
    return std::span(cpus).subspan(index * count, count);
  }
};

/// The plan of the job for this program.
[[nodiscard]] Result<RunPlan> make_plan(const RunOptions& options,
                                        const RunRequest& request,
                                        const Host& host,
                                        const ProgramReport& program);

}  // namespace sorrel::tool
