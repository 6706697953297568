//! Attributes as the faces need them: a callback's failure gets a sentence for the error handler.
#pragma once

#include "mpi/rank_state.hpp"

namespace sorrel::abi {

/// What MPI_Comm_dup does with attributes; see mpi::copy_attributes(). May suspend.
[[nodiscard]] inline int copy_attributes(mpi::RankState& self,
                                         MPI_Comm from_handle,
                                         const mpi::Comm& from,
                                         mpi::Comm& to) {
  const int error = mpi::copy_attributes(from_handle, from, to);
  if (error == MPI_SUCCESS) [[likely]]
    return MPI_SUCCESS;
  return self.fail(error, "the copy function of an attribute returned %d", error);
}

/// What MPI_Comm_free and MPI_Finalize do first; see mpi::delete_attributes(). May suspend.
[[nodiscard]] inline int delete_attributes(mpi::RankState& self, MPI_Comm handle, mpi::Comm& comm) {
  const int error = mpi::delete_attributes(handle, comm);
  if (error == MPI_SUCCESS) [[likely]]
    return MPI_SUCCESS;
  return self.fail(error, "the delete function of an attribute returned %d", error);
}

}  // namespace sorrel::abi
