//! Config - what `sorrel run` decided for this job, handed over in the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loop/team/settings.hpp"

namespace sorrel::runtime {

struct Config {
  /// Of the whole job.
  std::int32_t rank_count = 1;
  std::uint32_t process_count = 1;
  std::uint32_t own_process = 0;
  /// Of each process.
  std::uint32_t worker_count = 1;
  /// CPU number of each worker; empty: not bound.
  std::vector<int> cpus;
  std::size_t stack_bytes = std::size_t{1} << 20;
  bool has_rank_labels = false;
  /// How loops share the machine with other jobs: the environment's words, read while
  /// SORREL_SHARE was still there.
  loop::Settings loops;
};

/// Reads the SORREL_* variables and removes them, so that children of the program start clean. A
/// program started without `sorrel run` is a job of one rank.
Config take_config_from_environment();

}  // namespace sorrel::runtime
