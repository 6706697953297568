//! Timeline - the states of ranks and of workers over time, packed for the page: a row each, in
//! levels of detail.
//!
//! A level is a list of spans, each two numbers in base-128: state | site << 4, and its length in
//! units of the level. The coarse levels divide the time of the job into equal bins; where a bin
//! holds several states, each state gets as many bins as its share of the time asks for
//! (error diffusion). The finest level has the exact spans, or if these are too many, short bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/sorrel/report/job_trace.hpp"
#include "tools/sorrel/report/wait_causes.hpp"

namespace sorrel::tool {

/// The states of rows. Those from first_wait on are WaitKinds.
enum class RowState : std::uint8_t {
  nothing,
  computes,
  in_mpi,
  idle,
  in_loop,
  in_task,
  in_openmp,
  first_wait
};

/// A state for some time; `detail`: of a rank, and of loops and tasks, the site and 1, of a worker
/// the rank and 1, 0: nothing.
struct Span {
  RowState state = RowState::nothing;
  std::uint32_t detail = 0;
  std::int64_t ns = 0;
};

[[nodiscard]] std::vector<Span> spans_of_rank(const JobTrace& job,
                                              const WaitCauses& causes,
                                              std::uint32_t rank);
[[nodiscard]] std::vector<Span> spans_of_worker(const JobTrace& job, std::uint32_t worker);

/// One level of all rows.
struct TimelineLevel {
  std::int64_t unit_ns = 1;
  std::string bytes;
  /// Where each row begins in `bytes`, and where the last one ends.
  std::vector<std::size_t> row_begins;
};

/// Coarsest first: at most `bytes_max` bytes in all. Rows of ranks, then rows of workers.
[[nodiscard]] std::vector<TimelineLevel> make_levels(const JobTrace& job,
                                                     const WaitCauses& causes,
                                                     std::size_t bytes_max);

}  // namespace sorrel::tool
