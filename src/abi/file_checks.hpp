//! Checks that the calls on files share.
#pragma once

#include "mpi/io/file.hpp"

namespace sorrel::abi {

/// MPI_ERR_OTHER: a split collective access has begun and not ended.
[[nodiscard]] inline int check_no_split(mpi::RankState& self, const mpi::File& file) {
  return file.split.begun.empty()
             ? MPI_SUCCESS
             : self.fail(MPI_ERR_OTHER, "a split collective access of the file has not ended");
}

}  // namespace sorrel::abi
