//! CpuBudget - how many threads of this process can run at once: the processors of its affinity
//! mask, and the processor time that its control groups grant.
//!
//! The only place where the two are combined; `sorrel run` takes the number of workers from it, the
//! monitor the limit of the governor. thread_count() is pure. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "os/cgroup.hpp"

namespace sorrel::governor {

struct CpuBudget {
  std::vector<int> allowed_cpus;      ///< affinity mask, ascending
  std::optional<os::CpuQuota> quota;  ///< control groups

  /// The smaller of the number of allowed cpus and the whole processors in the quota, which is
  /// divided among `sharer_count` processes; at least 1.
  [[nodiscard]] std::uint32_t thread_count(std::uint32_t sharer_count = 1) const;
};

/// The calling thread's mask and the process's quota now. Reads some files of the kernel.
[[nodiscard]] CpuBudget read_cpu_budget();

}  // namespace sorrel::governor
