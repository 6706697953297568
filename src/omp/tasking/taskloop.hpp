//! How a taskloop is cut into tasks. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sorrel::omp {

struct TaskloopCut {
  std::uint64_t task_count = 0;
  std::uint64_t size = 0;          ///< iterations of each task; the last one may have fewer
  std::uint64_t larger_count = 0;  ///< the first ones have one more

  bool operator==(const TaskloopCut&) const = default;
};

enum class Grain : std::uint8_t {
  task_count,  ///< the number is one of tasks
  least,       ///< of iterations: tasks have from that to less than twice as many
  exact        ///< of iterations: all tasks but the last have that many
};

/// `number`: by `grain`; 0: as many tasks as threads.
constexpr TaskloopCut cut_taskloop(std::uint64_t trip_count,
                                   std::uint64_t number,
                                   Grain grain,
                                   std::uint32_t thread_count) {
  if (trip_count == 0) return {};
  if (grain == Grain::exact && number != 0)
    return {.task_count = (trip_count - 1) / number + 1, .size = number, .larger_count = 0};
  std::uint64_t count = number == 0 ? thread_count : number;
  if (grain != Grain::task_count)
    count = std::max<std::uint64_t>(trip_count / std::max<std::uint64_t>(number, 1), 1);
  count = std::min(count, trip_count);
  return {.task_count = count, .size = trip_count / count, .larger_count = trip_count % count};
}

}  // namespace sorrel::omp
