//! measure - measures the machine that the ranks of a communicator run on.
//!
//! Collective; may suspend. Takes some twenty seconds and up to 600 MiB per processor. No other
//! program should run meanwhile: the smallest of several times is taken, but a processor that is
//! shared all the time measures as a slow one. The result is the same on every rank. Every number
//! states that it was measured, or why it was assumed. Its Measurement has the spread, not the
//! date.
#pragma once

#include <mpi.h>
#include <string>

#include <sorrel/grid/machine.hpp>

namespace sorrel::grid {

/// How a machine is measured, and how the result is called.
struct MeasureOptions {
  /// Name of the result, and description of the machine.
  std::string name = "this machine";
  /// Processors that the ranks share in contiguous blocks; 0: one for each rank.
  int processor_count = 0;
  /// Size in bytes of blocks beyond every cache. Smaller is quicker, and wrong with large caches.
  std::int64_t large_set_bytes = std::int64_t{256} << 20;
};

/// Collective; may suspend. Takes some twenty seconds. With at least two ranks on each processor,
/// messages between these are measured too.
///
/// @param comm has at least two ranks
/// @param options the same on all ranks
/// @return the machine, the same on every rank
[[nodiscard]] Machine measure(MPI_Comm comm, const MeasureOptions& options);

}  // namespace sorrel::grid
