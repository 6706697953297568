//! Attribute callbacks: an error of a callback gets a message for the error handler.
#pragma once

#include "mpi/rank_state.hpp"

namespace sorrel::abi {

/// MPI_Comm_dup's part for attributes; see mpi::copy_attributes(). May suspend.
[[nodiscard]] inline int copy_attributes(mpi::RankState& self,
                                         MPI_Comm from_handle,
                                         const mpi::Comm& from,
                                         mpi::Comm& to) {
  const int error = mpi::copy_attributes(from_handle, from, to);
  if (error == MPI_SUCCESS) [[likely]]
    return MPI_SUCCESS;
  return self.fail(error, "the copy function of an attribute returned %d", error);
}

/// First step of MPI_Comm_free and MPI_Finalize; see mpi::delete_attributes(). May suspend.
[[nodiscard]] inline int delete_attributes(mpi::RankState& self, MPI_Comm handle, mpi::Comm& comm) {
  const int error = mpi::delete_attributes(handle, comm);
  if (error == MPI_SUCCESS) [[likely]]
    return MPI_SUCCESS;
  return self.fail(error, "the delete function of an attribute returned %d", error);
}

}  // namespace sorrel::abi
