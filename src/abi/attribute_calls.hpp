//! AttributeCalls - what setting and deleting an attribute have in common for communicators,
//! windows and datatypes.
#pragma once

#include "mpi/comm/attribute.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::abi {

/// `handle`: of the object, as its callbacks get it.
[[nodiscard]] inline int set_attribute(mpi::RankState& self,
                                       mpi::AttributeMap& attributes,
                                       MPI_Comm handle,
                                       mpi::Keyval& keyval,
                                       void* value) {
  const int error = attributes.set(handle, keyval, value);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return self.fail(error, "the delete function of the old attribute returned %d", error);
}

/// `attributes`: null if the object has none.
[[nodiscard]] inline int delete_attribute(mpi::RankState& self,
                                          mpi::AttributeMap* attributes,
                                          MPI_Comm handle,
                                          mpi::Keyval& keyval) {
  if (attributes == nullptr) return MPI_SUCCESS;
  const int error = attributes->erase(handle, keyval);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return self.fail(error, "the delete function of the attribute returned %d", error);
}

/// MPI_Comm_free_keyval and its like.
[[nodiscard]] inline int free_keyval(mpi::RankState& self, mpi::AttributeOwner owner, int* number) {
  const int error = self.services().keyvals.free(*number, owner, self.detail());
  if (error == MPI_SUCCESS) *number = MPI_KEYVAL_INVALID;
  return error;
}

}  // namespace sorrel::abi
