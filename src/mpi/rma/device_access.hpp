//! Operations on memory of a window that lies on a device of the target's process.
//!
//! Data pass through memory of the host, in pieces. The origin's worker, in its fiber, or the
//! target's worker for an operation of another process. Elements that an accumulate changes are an
//! update of the memory (owned_memory.hpp), which is atomic without a lock. Each returns
//! MPI_SUCCESS or an error class: MPI_ERR_RMA_RANGE if the memory is not there any more,
//! MPI_ERR_NO_MEM, MPI_ERR_OTHER if the driver rejects a copy.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/owned_memory.hpp"
#include "mpi/collectives/block_list.hpp"
#include "mpi/datatype/copy.hpp"
#include "mpi/rma/cells.hpp"
#include "mpi/rma/target_sync.hpp"

namespace sorrel::mpi {

/// A typed buffer in a window on a device.
struct DeviceTarget {
  device::OwnedMemory& memory;
  std::uintptr_t address;
  std::size_t count;
  const Datatype& type;

  [[nodiscard]] std::size_t bytes() const { return count * type.size(); }
};

/// Whether a put and a get between the target and a buffer of the calling rank are copies within a
/// device: both are there, in one context of the driver.
[[nodiscard]] bool is_within_device(const DeviceTarget& target, const TypedBuffer& origin);

/// Whether the buffer of the calling rank is on a device, where copies within a device are made.
[[nodiscard]] bool is_on_device(const TypedBuffer& origin);

/// If is_within_device(): begins the copy of a put or of a get in streams that it adds to
/// `pending`.
[[nodiscard]] int put_within_device(const DeviceTarget& target,
                                    const TypedBuffer& origin,
                                    device::CopyStreams& pending);
[[nodiscard]] int get_within_device(const DeviceTarget& target,
                                    const TypedBuffer& origin,
                                    device::CopyStreams& pending);

/// Waits for such copies. May suspend.
[[nodiscard]] int finish_within_device(const device::CopyStreams& pending);

/// May suspend: the copies of a put and of a get, of the size of the shorter side.
[[nodiscard]] int put_on_device(const DeviceTarget& target, const TypedBuffer& origin);
[[nodiscard]] int get_from_device(const DeviceTarget& target, const TypedBuffer& origin);

/// The part `range` of the packed stream of the target. Never suspends.
[[nodiscard]] int write_on_device(const DeviceTarget& target,
                                  PackedRange range,
                                  const std::byte* packed);
[[nodiscard]] int read_from_device(const DeviceTarget& target,
                                   PackedRange range,
                                   std::byte* packed);

/// Elements that an accumulate changes or reads: as Cells.
struct DeviceCells {
  DeviceTarget target;
  CellUnit unit;
  /// Null: the elements are read only (MPI_NO_OP).
  ReduceKernel kernel;

  /// As Cells::apply(). Never suspends.
  [[nodiscard]] int apply(PackedRange range, const std::byte* operand, std::byte* result) const;

  /// As Cells::apply_all(). May suspend.
  [[nodiscard]] int apply_all(const TypedBuffer* operand, const TypedBuffer* result) const;

 private:
  [[nodiscard]] int apply(PackedRange range,
                          const std::byte* operand,
                          std::byte* result,
                          device::Waiting waiting) const;
};

/// As compare_and_swap_in(), for the one element of the target. May suspend, if `waiting` says so.
[[nodiscard]] int compare_and_swap_on_device(const DeviceTarget& target,
                                             const SwapValues& values,
                                             device::Waiting waiting);

/// The text of an error of these functions.
[[nodiscard]] const char* text_of_device_error(int error);

}  // namespace sorrel::mpi
