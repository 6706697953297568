//! RankVariables - the environment variables that number a rank, under the names for which scripts
//! and programs look: those of Sorrel, of Open MPI, and of MPICH's and Intel's Hydra.
//!
//! None of these names makes a program of another MPI join a job: for that, MPICH needs PMI_FD or
//! PMI_PORT, and Open MPI needs PMIX_NAMESPACE. Slurm's variables are not among them, because they
//! describe tasks of the step.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sorrel::launch {

struct RankNumbers {
  std::int32_t rank = 0;
  std::int32_t rank_count = 1;
  /// Among the ranks of the same node.
  std::int32_t local_rank = 0;
  std::int32_t local_rank_count = 1;
};

struct RankVariable {
  std::string_view name;  ///< ended by a null character
  std::int32_t RankNumbers::* number;
};

/// Ordered by their numbers.
inline constexpr std::array rank_variables = {
    RankVariable{"SORREL_RANK", &RankNumbers::rank},
    RankVariable{"PMI_RANK", &RankNumbers::rank},
    RankVariable{"OMPI_COMM_WORLD_RANK", &RankNumbers::rank},
    RankVariable{"SORREL_SIZE", &RankNumbers::rank_count},
    RankVariable{"PMI_SIZE", &RankNumbers::rank_count},
    RankVariable{"OMPI_COMM_WORLD_SIZE", &RankNumbers::rank_count},
    RankVariable{"SORREL_LOCAL_RANK", &RankNumbers::local_rank},
    RankVariable{"MPI_LOCALRANKID", &RankNumbers::local_rank},
    RankVariable{"OMPI_COMM_WORLD_LOCAL_RANK", &RankNumbers::local_rank},
    RankVariable{"SORREL_LOCAL_SIZE", &RankNumbers::local_rank_count},
    RankVariable{"MPI_LOCALNRANKS", &RankNumbers::local_rank_count},
    RankVariable{"OMPI_COMM_WORLD_LOCAL_SIZE", &RankNumbers::local_rank_count}};

/// "NAME=VALUE" for each of them, each ended by a null character.
[[nodiscard]] std::string text_of_rank_variables(const RankNumbers& numbers);

/// In the environment of this process.
void set_rank_variables(const RankNumbers& numbers);
void unset_rank_variables();

}  // namespace sorrel::launch
