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
#include "omp/icv/places.hpp"

namespace sorrel::omp {

enum class Display : std::uint8_t { no, yes, verbose };

/// Whose rules hold where the standard leaves them open: GCC's library's, or LLVM's and Intel's.
enum class Convention : std::uint8_t { gnu, llvm };

/// What OMP_TARGET_OFFLOAD requests. There is no device but the host.
enum class Offload : std::uint8_t { if_possible, mandatory, disabled };

struct Environment {
  Convention convention = Convention::gnu;
  Icv icv;
  /// Team sizes by level, if OMP_NUM_THREADS is a list; the first is icv.thread_count.
  std::vector<std::uint32_t> thread_counts;
  std::uint32_t cpus = 1;
  std::uint32_t team_count = 0;          ///< nteams-var; 0: not given
  std::uint32_t teams_thread_limit = 0;  ///< teams-thread-limit-var; 0: not given
  /// What is requested of binding (binding.hpp), and the variables that request it.
  std::vector<Bind> binds;
  PlaceRequest places;
  std::string binding_names;
  Offload offload = Offload::if_possible;
  std::uintptr_t allocator = 1;  ///< def-allocator-var; 1: omp_default_mem_alloc
  std::size_t stack_bytes = 0;   ///< 0: the system's default
  bool can_cancel = false;
  bool is_wait_active = false;
  bool is_wait_given = false;
  std::int32_t task_priority_max = 0;
  bool limits_queues = true;  ///< a thread with many queued tasks runs new ones at once
  Display display = Display::no;
  bool displays_affinity = false;
  bool concerns_affinity = false;  ///< displays it, or requests binding
  std::string affinity_format = "level %L thread %i affinity %A";
  governor::Settings loop_settings;
  std::vector<std::string> diagnostics;

  [[nodiscard]] bool requests_binding() const {
    return !binds.empty() && binds.front() != Bind::none;
  }
};

inline constexpr std::uint8_t active_levels_supported = 255;

[[nodiscard]] Environment read_environment(const governor::Lookup& lookup,
                                           std::uint32_t cpus,
                                           Convention convention = Convention::gnu);

/// The output of OMP_DISPLAY_ENV.
[[nodiscard]] std::string describe(const Environment& environment, bool is_verbose);

[[nodiscard]] const Environment& environment();

/// Applies the list of OMP_NUM_THREADS to threads of a team at `level`.
void inherit_next_level(Icv& icv, std::uint32_t level);

}  // namespace sorrel::omp
