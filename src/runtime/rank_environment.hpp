//! The variables that number a rank (launch/rank_variables.hpp), as this process knows the job.
//!
//! `sorrel run` has set them where a process has one rank and no host MPI has started it. Ranks
//! that share a process have them in environments of their own.
#pragma once

#include <string>

namespace sorrel::mpi {
struct RankState;
}

namespace sorrel::runtime {

struct Config;

/// For the environment of a rank of a job that `sorrel run` has launched.
[[nodiscard]] std::string variables_of(const mpi::RankState& rank);

/// Sets them in the environment of a process that is a rank under a host MPI.
void set_variables_under_host(const Config& config);

}  // namespace sorrel::runtime
