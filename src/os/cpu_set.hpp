//! CPU sets - the cpus that this process may run on, moving to one of them, and lists of cpu
//! numbers as text.
//!
//! Any thread may call; nothing is cached. Counts hardware threads, not cores: the topology module
//! knows which of them share a core. Ignores quotas (os/cgroup.hpp). Limit: cpu numbers below
//! cpu_count_max.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sorrel::os {

/// Upper bound of cpu numbers; Linux is built for at most 8192 today.
inline constexpr int cpu_count_max = 65536;

/// The cpus in the affinity mask of thread `thread` (sched_stat.hpp), ascending; 0: the calling
/// thread. Empty only if the system call fails.
[[nodiscard]] std::vector<int> allowed_cpus(int thread = 0);

/// Sets that mask. False if the system call fails.
bool set_allowed_cpus(int thread, std::span<const int> cpus);

/// On which the calling thread runs; negative if the system call fails.
[[nodiscard]] int current_cpu();

/// Moves the calling thread to this cpu; its affinity mask stays as it was. Does nothing if the
/// system call fails.
void move_to_cpu(int cpu);

/// First cpu of part `index` when `cpu_count` cpus are split into `part_count` nearly equal,
/// contiguous parts; index part_count gives their end. With more parts than cpus, several parts
/// begin at the same cpu.
[[nodiscard]] constexpr std::size_t part_begin(std::size_t cpu_count,
                                               std::size_t index,
                                               std::size_t part_count) {
  return cpu_count * index / part_count;
}

/// "0,2,3": every number, in the order given.
[[nodiscard]] std::string format_cpu_list(std::span<const int> cpus);

/// "0,2-3": runs of consecutive numbers are joined, for people to read.
[[nodiscard]] std::string format_cpu_ranges(std::span<const int> cpus);

}  // namespace sorrel::os
