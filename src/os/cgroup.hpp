//! Cgroup limits - how much processor time and how many threads the control groups grant this
//! process.
//!
//! Reads cpu.max and pids.max (version 2), cpu.cfs_quota_us / cpu.cfs_period_us and pids.max
//! (version 1) of the process's group and of every group above it that is mounted here, and takes
//! the least. Any thread may call; nothing is cached. Does not read cpusets: the kernel already
//! keeps those in the affinity mask (os/cpu_set.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sorrel::os {

struct CpuQuota {
  double cpus = 0;   ///< Processors' worth of time per second, more than 0.
  std::string file;  ///< Where it is written, for the person who wonders.
};

/// The tightest quota, or nothing if there is none. `root` is put before every path read ("" for
/// the machine).
[[nodiscard]] std::optional<CpuQuota> cpu_quota(const std::string& root = "");

struct PidsLimit {
  std::uint64_t threads = 0;  ///< Of all processes in the group.
  std::string file;
};

/// The tightest limit on threads, or nothing if there is none.
[[nodiscard]] std::optional<PidsLimit> pids_limit(const std::string& root = "");

/// Whole processors in a quota: rounded down, at least 1. Rounding up would have all workers
/// stopped together at the end of each period, tens of milliseconds at a time.
[[nodiscard]] int whole_cpus(const CpuQuota& quota);

}  // namespace sorrel::os
