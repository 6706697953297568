//! MPI_INFO_ENV - the list of what mpiexec would set for this program.
#pragma once

#include "mpi/comm/info.hpp"

namespace sorrel::mpi {

/// The list behind a handle, MPI_INFO_ENV included; null for MPI_INFO_NULL and invalid handles.
const Info* info_of(MPI_Info handle);

}  // namespace sorrel::mpi
