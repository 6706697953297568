//! PartPlan - the processes and workers of each program in a job of several programs. Pure.
//!
//! Programs cannot share a process. By default each has one, and one for each rank if its ranks
//! cannot share a process. `--procs` is the number of processes of the whole job: those that are
//! left after these go to the programs with the most ranks in a process. A program without ranks
//! has one process, for ranks that others spawn.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <sorrel/result.hpp>

#include "launch/job_spec.hpp"

namespace sorrel::tool {

struct PartRequest {
  std::uint64_t ranks = 1;
  /// Its ranks cannot share a process.
  bool must_spread = false;
};

struct PartLimits {
  std::uint64_t cores = 1;
  std::optional<std::uint64_t> processes = std::nullopt;  ///< --procs
  std::optional<std::uint64_t> workers = std::nullopt;    ///< --workers, of a process
};

[[nodiscard]] Result<std::vector<launch::PartSpec>> plan_parts(
    std::span<const PartRequest> requests, const PartLimits& limits);

/// Whether every rank of the part is a process and its program runs as it is: with one rank only
/// if it must, or if `--procs` is given.
[[nodiscard]] bool is_process_mode(const launch::PartSpec& part,
                                   const PartRequest& request,
                                   const PartLimits& limits);

}  // namespace sorrel::tool
