//! RunPlan - how `sorrel run` runs a program: the number of ranks, processes and workers, their
//! cpus, and the settings of a simulated network, a seeded schedule or a host MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/job_parts.hpp"
#include "launch/job_spec.hpp"
#include "tools/sorrel/common/host.hpp"
#include "tools/sorrel/inspect/preflight.hpp"
#include "tools/sorrel/run/equal_process.hpp"
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
  bool is_count_requested = false;  ///< The user has asked for this number of ranks.
  /// Under a host MPI, which decides the number of processes; ranks and workers are 0 if no
  /// number was given.
  Host host;

  /// Bytes for the processes, which are to be equal (EqualProcesses); none: the system has none.
  std::optional<RandomBytes> random;

  /// How often the job is started again from a checkpoint.
  std::uint64_t restart_count_max = 0;

  /// By program of a job of several (launch::JobSpec::parts): every rank is a process.
  std::vector<bool> process_modes;

  /// The job as process `index`, `process` of launch::shares_of(), gets it, without what its start
  /// adds.
  [[nodiscard]] launch::JobSpec job_of(std::uint32_t index,
                                       const launch::ProcessShare& process) const;
};

/// The plan of the job for this program.
[[nodiscard]] Result<RunPlan> make_plan(const RunOptions& options,
                                        const RunRequest& request,
                                        const Host& host,
                                        const ProgramReport& program);

/// The plan of a job of several programs; `requests` differ in their numbers of ranks only.
[[nodiscard]] Result<RunPlan> make_plan(const RunOptions& options,
                                        std::span<const RunRequest> requests,
                                        const Host& host,
                                        std::span<const ProgramReport> programs);

}  // namespace sorrel::tool
