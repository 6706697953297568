//! The probes of measure(): each measures one part of a Machine.
//!
//! All are collective over the communicator and return the same result on every rank. Those of
//! computing and copying run on one rank of each processor at the same time, so that caches and
//! memory are shared as in a real step.
#pragma once

#include <functional>
#include <mpi.h>
#include <vector>

#include <sorrel/grid/machine.hpp>
#include <sorrel/grid/measure.hpp>

namespace sorrel::grid {

/// The ranks of a measurement, and this rank's part in it.
struct ProbeContext {
  MPI_Comm comm;
  int rank = 0;
  int rank_count = 1;
  int ranks_per_processor = 1;
  std::int64_t large_set_bytes = 0;
  /// The first ranks of processors; null on others.
  MPI_Comm firsts = MPI_COMM_NULL;

  [[nodiscard]] bool is_first_of_processor() const { return rank % ranks_per_processor == 0; }

  /// The maximum of the values of the first ranks of processors, on every rank.
  [[nodiscard]] double largest(double value) const;
};

/// The minimum time of `body` in `repeat_count` runs, after one uncounted run; `before` runs before
/// each, untimed.
[[nodiscard]] double least_seconds(int repeat_count,
                                   const std::function<void()>& body,
                                   const std::function<void()>& before = {});

/// least_seconds() on all first ranks of processors at once. They start together, so that shared
/// resources are shared; the slowest rank counts. Called by first ranks only.
[[nodiscard]] double least_seconds_together(const ProbeContext& context,
                                            int repeat_count,
                                            const std::function<void()>& body,
                                            const std::function<void()>& before = {});

/// Times of repeated runs of the same small work, in seconds; on first ranks.
[[nodiscard]] std::vector<double> time_same_work(const ProbeContext& context);

/// flops_per_second, memory, planes, row_start_s, ghost_share, skin_penalty, row_end_s.
void probe_computing(const ProbeContext& context, Machine& machine);

/// copy and blocked.
void probe_copying(const ProbeContext& context, Machine& machine);

/// links, datatype and poll_s.
void probe_messages(const ProbeContext& context, Machine& machine);

}  // namespace sorrel::grid
