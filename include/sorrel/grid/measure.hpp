//! measure - finds out about the machine that the ranks of a communicator run on.
//!
//! Collective; May suspend. Takes some twenty seconds and up to 600 MiB per processor. Nothing else
//! should run meanwhile: the smallest of several times is taken, but a processor that is shared all
//! the time measures as a slow one. The result is the same on every rank, and every number says
//! that it was measured, or why it was assumed.
#pragma once

#include <mpi.h>
#include <string>

#include <sorrel/grid/machine.hpp>

namespace sorrel::grid {

struct MeasureOptions {
  /// Of the result; and of the machine, as a person would say it.
  std::string name = "this machine";
  /// Processors that the ranks share in contiguous blocks; 0: one for each rank.
  int processor_count = 0;
  /// Blocks beyond every cache are this large. Smaller is quicker, and wrong with large caches.
  std::int64_t large_set_bytes = std::int64_t{256} << 20;
};

/// `comm` has at least two ranks; with at least two on each processor, messages between these are
/// measured too.
[[nodiscard]] Machine measure(MPI_Comm comm, const MeasureOptions& options);

}  // namespace sorrel::grid
