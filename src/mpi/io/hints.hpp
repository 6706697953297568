//! FileHints - what the library takes from the hints of a file (MPI 5.0, 14.2.8), with defaults.
//! Other hints are ignored.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/comm/info.hpp"

namespace sorrel::mpi {

struct FileHints {
  enum class Buffering : std::uint8_t { automatic, always, never };

  /// romio_cb_read, romio_cb_write, collective_buffering.
  Buffering read_buffering = Buffering::automatic;
  Buffering write_buffering = Buffering::automatic;
  /// cb_nodes: ranks of a process that access the file in a collective; 0: one for each worker.
  std::int32_t aggregator_count_max = 0;
  /// cb_buffer_size.
  std::size_t buffer_bytes = std::size_t{4} << 20;

  /// Values that have no meaning are ignored, as the standard demands.
  static FileHints from(const Info& info);

  /// Sets the values in effect in `info`, for MPI_File_get_info.
  void describe(Info& info, ErrorDetail& detail) const;
};

}  // namespace sorrel::mpi
