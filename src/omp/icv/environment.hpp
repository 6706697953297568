//! Environment - the environment variables for OpenMP programs: OMP_*, and those of this library
//! that control threads (governor/settings.hpp).
//!
//! Pure: reads through a lookup function, and returns diagnostics instead of printing them.
//! environment() is that of the process, read once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "governor/settings.hpp"
#include "omp/icv/icv.hpp"

namespace sorrel::omp {

enum class Display : std::uint8_t { no, yes, verbose };

struct Environment {
  Icv icv;
  /// Team sizes by level, if OMP_NUM_THREADS is a list; the first is icv.thread_count.
  std::vector<std::uint32_t> thread_counts;
  std::vector<Bind> binds;
  std::uint32_t cpus = 1;
  std::uint32_t thread_limit = 0xFFFF'FFFF;
  std::size_t stack_bytes = 0;  ///< 0: the system's default
  bool can_cancel = false;
  bool is_wait_active = false;
  bool is_wait_given = false;
  std::int32_t task_priority_max = 0;
  Display display = Display::no;
  bool displays_affinity = false;
  std::string affinity_format = "level %L thread %i affinity %A";
  governor::Settings loop_settings;
  std::vector<std::string> diagnostics;
};

inline constexpr std::uint32_t active_levels_supported = 255;

[[nodiscard]] Environment read_environment(const governor::Lookup& lookup, std::uint32_t cpus);

/// The output of OMP_DISPLAY_ENV.
[[nodiscard]] std::string describe(const Environment& environment, bool is_verbose);

[[nodiscard]] const Environment& environment();

/// thread-limit-var: OMP_THREAD_LIMIT, or less in a teams region.
[[nodiscard]] std::uint32_t thread_limit_now();
void set_thread_limit(std::uint32_t limit);

/// Applies the lists of OMP_NUM_THREADS and OMP_PROC_BIND to threads of a team at `level`.
void inherit_next_level(Icv& icv, std::uint32_t level);

}  // namespace sorrel::omp
