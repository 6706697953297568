//! merge_trace - makes one file in Perfetto's format from what the workers of a job have recorded.
//!
//! For each process: a track for each worker, with the ranks that it ran, its idle time, and the
//! parts of loops and the tasks with which it has helped; a track for each rank, with its calls of
//! MPI, its waits, loops, tasks, regions of OpenMP and moves, and the messages, whose two ends are
//! linked; the bytes that each worker's ranks have sent, the packets of each worker, and the number
//! of threads that the governor has granted. Times of one machine are those of its cycle
//! counter; times of several machines are related by their wall clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

namespace sorrel::tool {

struct MergedTrace {
  std::size_t part_count = 0;
  std::uint64_t event_count = 0;
  /// One line for each file that was left out.
  std::vector<std::string> warnings;
  /// Why the file ends before the last event, as a full disk; "": it has all of them.
  std::string cut_off;
};

/// `folder` has the parts of a trace; others of its files are left alone. Overwrites `file`.
[[nodiscard]] Result<MergedTrace> merge_trace(const std::string& folder, const std::string& file);

/// Removes what an interrupted merge has written at `file`, a file or an archive. A device, a pipe
/// and a link stay.
void remove_trace(const std::string& file);

}  // namespace sorrel::tool
