//! Addresses of one-sided operations: where the data of a target's buffer lies, and whether the
//! window exposes it.
//!
//! Any worker of the process that can address the memory. Never suspends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/datatype/datatype.hpp"
#include "mpi/rma/window.hpp"

namespace sorrel::mpi {

/// The side of an operation that lies in a window.
struct TargetBuffer {
  std::int32_t rank;
  /// In units of the target, as the program gave it.
  std::int64_t displacement;
  std::size_t count;
  const Datatype* type;

  [[nodiscard]] std::size_t bytes() const { return count * type->size(); }
};

/// Where a target buffer lies.
struct TargetPlace {
  /// As this process addresses it; null if only the target's process can access it, and on a
  /// device.
  std::byte* address = nullptr;
  /// In bytes from the begin of the target's memory; in a dynamic window, an address.
  std::int64_t displacement = 0;
  /// On a device of this process: the target's memory there; else null.
  device::OwnedMemory* device = nullptr;
};

/// Finds the place of a target buffer. MPI_ERR_DISP: the displacement is negative.
/// MPI_ERR_RMA_RANGE: data lies outside the window; in a dynamic window of another process that is
/// found there.
[[nodiscard]] int find_place(const Win& win, const TargetBuffer& target, TargetPlace* place);

/// For an operation of another process: finds the data at `displacement` bytes in the memory of the
/// view's own rank, or MPI_ERR_RMA_RANGE. `*device`: the rank's memory on a device, if the address
/// is there; else null.
[[nodiscard]] int find_own_memory(Win& win,
                                  std::int64_t displacement,
                                  std::size_t count,
                                  const Datatype& type,
                                  std::byte** address,
                                  device::OwnedMemory** device);

/// The address of a place on a device of this process, in the memory of the rank `target`.
[[nodiscard]] std::uintptr_t device_address_of(const Win& win,
                                               std::int32_t target,
                                               const TargetPlace& place);

}  // namespace sorrel::mpi
