//! The fields of an MPI_Status beyond the three public ones: message size and cancellation.
#pragma once

#include <cstddef>
#include <cstring>

#include "mpi.h"

namespace sorrel::mpi {

/// Layout of MPI_Status::MPI_internal: the ABI leaves five integers to the implementation.
inline constexpr int status_bytes_index = 0;  // two integers: a 64-bit byte count
inline constexpr int status_cancelled_index = 2;

inline void set_status_bytes(MPI_Status& status, std::size_t bytes) {
  std::memcpy(&status.MPI_internal[status_bytes_index], &bytes, sizeof bytes);
}

inline std::size_t status_bytes(const MPI_Status& status) {
  std::size_t bytes = 0;
  std::memcpy(&bytes, &status.MPI_internal[status_bytes_index], sizeof bytes);
  return bytes;
}

/// The status of a receive from `source` with `tag`. MPI_ERROR is not changed, as the standard
/// requires for single completions.
inline void set_status(
    MPI_Status& status, int source, int tag, std::size_t bytes, bool is_cancelled) {
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  set_status_bytes(status, bytes);
  status.MPI_internal[status_cancelled_index] = is_cancelled ? 1 : 0;
}

/// The status of a receive from MPI_PROC_NULL.
inline void set_empty_status(MPI_Status& status, int source) {
  set_status(status, source, MPI_ANY_TAG, 0, false);
}

}  // namespace sorrel::mpi
