//! Cgroup limits - the processor time, the number of threads and the memory that the control groups
//! grant this process.
//!
//! Reads cpu.max, pids.max and memory.max (version 2), cpu.cfs_quota_us / cpu.cfs_period_us,
//! pids.max and memory.limit_in_bytes (version 1) of the process's group and of every mounted group
//! above it, and takes the least. Any thread may call; nothing is cached. Does not read cpusets:
//! the kernel already applies those to the affinity mask (os/cpu_set.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sorrel::os {

struct CpuQuota {
  double cpus = 0;   ///< Processors' worth of time per second, more than 0.
  std::string file;  ///< File that states it, for messages.
};

/// The tightest quota, or nothing if there is none. `root` is a prefix for every path read ("" for
/// the machine).
[[nodiscard]] std::optional<CpuQuota> cpu_quota(const std::string& root = "");

struct PidsLimit {
  std::uint64_t threads = 0;  ///< For all processes in the group.
  std::string file;
};

/// The tightest limit on threads, or nothing if there is none.
[[nodiscard]] std::optional<PidsLimit> pids_limit(const std::string& root = "");

/// The tightest limit on bytes of memory, or nothing if there is none.
[[nodiscard]] std::optional<std::uint64_t> memory_limit(const std::string& root = "");

/// The least number of bytes of memory that a group with a limit can still get, what the system
/// caches of files counting as free; nothing if there is no limit.
[[nodiscard]] std::optional<std::uint64_t> memory_left(const std::string& root = "");

/// Whole processors in a quota: rounded down, at least 1. With one worker more, the kernel would
/// stop all workers at the end of each period, tens of milliseconds at a time.
[[nodiscard]] int whole_cpus(const CpuQuota& quota);

}  // namespace sorrel::os
