//! Icv - the internal control variables of an OpenMP data environment: omp_set_*() changes them for
//! the caller and for the threads that it forks.
#pragma once

#include <cstdint>

namespace sorrel::omp {

/// The most threads of one parallel region.
inline constexpr std::uint32_t thread_count_max = 4096;

/// The numbers are omp_sched_t's.
enum class Schedule : std::uint8_t { fixed = 1, dynamic = 2, guided = 3, automatic = 4 };

/// The numbers are omp_proc_bind_t's.
enum class Bind : std::uint8_t { none = 0, yes = 1, primary = 2, close = 3, spread = 4 };

struct Icv {
  std::uint32_t thread_count = 1;  ///< nthreads-var
  std::int32_t default_device = 0;
  std::int64_t chunk = 0;  ///< of run-sched-var; 0: none was given
  Schedule schedule = Schedule::dynamic;
  bool is_monotonic = false;
  bool is_dynamic = false;
  Bind bind = Bind::none;
  std::uint32_t active_levels_max = 1;

  bool operator==(const Icv&) const = default;
};

}  // namespace sorrel::omp
