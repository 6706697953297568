//! The regions of memory that a rank has attached to a dynamic window (MPI 5.0, 12.2.5).
//!
//! The rank's own worker; other workers read the list under Win::sync_lock. A list: programs attach
//! few regions, and an operation searches all of them.
#pragma once

#include "mpi/rma/window.hpp"

namespace sorrel::mpi {

/// `device`: what the rank has on devices, if the region is there; else null. MPI_ERR_RMA_ATTACH: a
/// part of the region is attached already.
[[nodiscard]] int attach(Win& win,
                         const void* base,
                         std::size_t bytes,
                         device::OwnedMemory* device);

/// MPI_ERR_RMA_ATTACH: no region begins there.
[[nodiscard]] int detach(Win& win, const void* base);

}  // namespace sorrel::mpi
