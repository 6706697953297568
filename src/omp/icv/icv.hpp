//! Icv - the internal control variables of an OpenMP data environment: omp_set_*() changes them for
//! the caller and for the threads that it forks.
#pragma once

#include <cstdint>

namespace sorrel::omp {

/// The most threads of one parallel region.
inline constexpr std::uint32_t thread_count_max = 65536;
inline constexpr std::uint32_t no_thread_limit = 0xFFFF'FFFF;
/// omp_invalid_device: the default device if OMP_TARGET_OFFLOAD is mandatory and the program has
/// set none.
inline constexpr std::int32_t no_device = -4;

/// The numbers are omp_sched_t's.
enum class Schedule : std::uint8_t { fixed = 1, dynamic = 2, guided = 3, automatic = 4 };

// Every task has one: kept small.
struct Icv {
  std::uint32_t thread_count = 1;  ///< nthreads-var
  std::int32_t default_device = 0;
  std::int64_t chunk = 0;                        ///< of run-sched-var; 0: none was given
  std::uint32_t thread_limit = no_thread_limit;  ///< thread-limit-var
  Schedule schedule = Schedule::dynamic;
  bool is_monotonic = false;
  bool is_dynamic = false;
  std::uint8_t active_levels_max = 1;

  bool operator==(const Icv&) const = default;
};

}  // namespace sorrel::omp
