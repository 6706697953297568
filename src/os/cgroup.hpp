//! Cgroup quota - how much processor time the control groups grant this process.
//!
//! Reads cpu.max (version 2) and cpu.cfs_quota_us / cpu.cfs_period_us (version 1) of the process's
//! group and of every group above it that is mounted here, and takes the least. Any thread may
//! call; nothing is cached. Does not read cpusets: the kernel already keeps those in the affinity
//! mask (os/cpu_set.hpp).
#pragma once

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

/// Whole processors in a quota: rounded down, at least 1. Rounding up would have all workers
/// stopped together at the end of each period, tens of milliseconds at a time.
[[nodiscard]] int whole_cpus(const CpuQuota& quota);

}  // namespace sorrel::os
