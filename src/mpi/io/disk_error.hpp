//! The error classes of MPI for numbers of errno.
#pragma once

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

/// MPI_ERR_IO for numbers without a class of their own.
[[nodiscard]] int error_class_of(int number);

/// Fails with the class, and a text of what was done, the file and the system's error.
[[nodiscard, gnu::cold]] int fail_disk(RankState& self,
                                       const char* action,
                                       const char* path,
                                       int number);

}  // namespace sorrel::mpi
