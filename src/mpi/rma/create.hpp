//! Creating and freeing windows: collective over the window's communicator, may suspend.
//!
//! In each process the first member creates the shared part and passes it to the others; the first
//! members of the processes exchange what their members expose.
#pragma once

#include "mpi/rma/window.hpp"

namespace sorrel::mpi {

struct WindowArguments {
  /// MPI_WIN_FLAVOR_*.
  int flavor = 0;
  /// Memory for MPI_WIN_FLAVOR_CREATE; the library allocates memory for the other flavors.
  void* base = nullptr;
  MPI_Aint bytes = 0;
  std::int64_t displacement_unit = 1;
  /// The segments of a shared window need not be next to each other.
  bool is_noncontiguous = false;
  std::size_t alignment = 64;
  /// With `base` on a device: what the rank has on devices; else null.
  device::OwnedMemory* device = nullptr;
};

/// Creates a window on `own_comm`, a communicator for it alone, which it takes over in every case.
/// MPI_ERR_NO_MEM; MPI_ERR_RMA_SHARED: the members have no memory in common.
[[nodiscard]] int create_window(RankState& self,
                                Comm& own_comm,
                                const WindowArguments& arguments,
                                Win** result);

/// Frees a window without open epochs.
[[nodiscard]] int free_window(Win& win);

}  // namespace sorrel::mpi
