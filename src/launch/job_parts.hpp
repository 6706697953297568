//! JobParts - the ranks and workers of each process, also in a job of several programs (`sorrel run
//! -n 2 ./a : -n 4 ./b`). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "launch/job_spec.hpp"

namespace sorrel::launch {

struct ProcessShare {
  std::size_t part = 0;  ///< the number of its program
  std::int32_t first_rank = 0;
  std::int32_t rank_count = 1;
  std::uint32_t first_worker = 0;  ///< among the workers of the job that exist
  std::uint32_t worker_count = 1;
};

/// By process. The ranks of a part are divided into blocks whose sizes differ by at most one. Not
/// for a job whose numbers a host MPI decides.
[[nodiscard]] std::vector<ProcessShare> shares_of(const JobSpec& job);

/// The parts of the job; a job of one program has one.
[[nodiscard]] std::vector<PartSpec> parts_of(const JobSpec& job);

/// The largest number of workers of a process: the shape of the memory that processes share.
[[nodiscard]] std::uint32_t workers_per_process(const JobSpec& job);

}  // namespace sorrel::launch
