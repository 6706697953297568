//! RankVariables - the environment variables that number a rank, under the names for which scripts
//! and programs look: those of Sorrel, of Open MPI, and of MPICH's and Intel's Hydra.
//!
//! None of these names makes a program of another MPI join a job: for that, MPICH needs PMI_FD or
//! PMI_PORT, and Open MPI needs PMIX_NAMESPACE. Slurm's variables are not among them, because they
//! describe tasks of the step.
#pragma once

#include <cstdint>
#include <string>

namespace sorrel::launch {

struct RankNumbers {
  std::int32_t rank = 0;
  std::int32_t rank_count = 1;
  /// Among the ranks of the same node.
  std::int32_t local_rank = 0;
  std::int32_t local_rank_count = 1;
};

/// "NAME=VALUE" for each variable, each ended by a null character.
[[nodiscard]] std::string text_of_rank_variables(const RankNumbers& numbers);

/// In the environment of this process.
void set_rank_variables(const RankNumbers& numbers);
void unset_rank_variables();

}  // namespace sorrel::launch
