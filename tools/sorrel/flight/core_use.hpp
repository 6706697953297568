//! CoreUse - how much of its cores a job has used, and whether it was idle for most of its time.
//! Pure.
#pragma once

#include <cstddef>

namespace sorrel::tool {

struct CoreUse {
  /// Shorter jobs are mostly start-up.
  static constexpr double idle_seconds_min = 5;
  static constexpr double idle_share_min = 0.5;

  double seconds = 0;            ///< of the job
  double processor_seconds = 0;  ///< of its processes
  std::size_t cores = 1;         ///< that the job could use at a time
  std::size_t cpus = 1;          ///< of which the system could choose them
  double other_work = 0;         ///< the share of these cpus that other programs have used

  /// The share of the job's cores that it has used.
  [[nodiscard]] double busy() const {
    return processor_seconds / seconds / static_cast<double>(cores);
  }

  /// The share that other programs have used. On whichever cpus they have run, it is taken as on
  /// these cores.
  [[nodiscard]] double other() const {
    const double share = other_work * static_cast<double>(cpus) / static_cast<double>(cores);
    return share < 1 ? share : 1;
  }

  [[nodiscard]] bool is_idle() const {
    return seconds >= idle_seconds_min && 1 - busy() - other() > idle_share_min;
  }
};

}  // namespace sorrel::tool
