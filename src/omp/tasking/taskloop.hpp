//! How a taskloop is cut into tasks. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sorrel::omp {

struct TaskloopCut {
  std::uint64_t task_count = 0;
  std::uint64_t size = 0;          ///< iterations of each task
  std::uint64_t larger_count = 0;  ///< the first ones have one more

  bool operator==(const TaskloopCut&) const = default;
};

/// `number`: the grain if `is_grain` (tasks then have from that to less than twice as many
/// iterations), else of tasks; 0: as many as threads.
constexpr TaskloopCut cut_taskloop(std::uint64_t trip_count,
                                   std::uint64_t number,
                                   bool is_grain,
                                   std::uint32_t thread_count) {
  if (trip_count == 0) return {};
  std::uint64_t count = number == 0 ? thread_count : number;
  if (is_grain) count = std::max<std::uint64_t>(trip_count / std::max<std::uint64_t>(number, 1), 1);
  count = std::min(count, trip_count);
  return {.task_count = count, .size = trip_count / count, .larger_count = trip_count % count};
}

}  // namespace sorrel::omp
