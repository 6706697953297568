//! A duplicate that MPI_Comm_idup has returned and not completed: no call takes its handle, except
//! MPI_Comm_set_errhandler, by which mpi4py prepares every duplicate.
#pragma once

#include "mpi/comm/comm.hpp"

namespace sorrel::mpi {

/// The object's kind until complete_comm().
inline constexpr auto incomplete_comm_kind = ObjectKind{0x69636f6d};  // "icom"

/// What object_of() needs to know of it.
struct IncompleteComm {
  static constexpr ObjectKind object_kind = incomplete_comm_kind;
  ObjectHeader header;
};

/// The duplicate behind a handle; null if the handle is another one.
[[nodiscard]] inline Comm* incomplete_comm_of(MPI_Comm handle) {
  return reinterpret_cast<Comm*>(object_of<IncompleteComm>(handle));
}

}  // namespace sorrel::mpi
