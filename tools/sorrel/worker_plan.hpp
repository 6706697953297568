//! WorkerPlan - how many workers a job gets, on which cpus, and why.
//!
//! The decision is pure (plan_workers, choose_cpus) over what was read from the machine
//! (read_machine_limits).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "os/cgroup.hpp"
#include "tools/sorrel/topology.hpp"

namespace sorrel::tool {

/// More workers than this are refused; each pair of workers has a message ring.
inline constexpr int workers_max = 1024;

struct MachineLimits {
  std::vector<int> allowed_cpus;      ///< affinity mask, ascending
  std::optional<os::CpuQuota> quota;  ///< control group
  bool has_smt = false;               ///< cores run more than one hardware thread
};

[[nodiscard]] MachineLimits read_machine_limits();

/// Workers when the user names no number: the affinity mask or the quota, whichever is less, at
/// least 1.
[[nodiscard]] int default_workers(const MachineLimits& limits);

enum class Binding { none, core };

using TopologyReader = std::function<std::optional<Topology>()>;

/// One cpu per worker: a core's first hardware thread before any core's second, in topology order.
/// Empty (unbound) when there are more workers than cpus. `read` is called only when there is a
/// choice to make.
[[nodiscard]] std::vector<int> choose_cpus(int workers,
                                           const MachineLimits& limits,
                                           const TopologyReader& read);

/// More workers than cpus: which they take turns on, neighbours on the same one.
[[nodiscard]] std::vector<int> share_cpus(int workers, const MachineLimits& limits);

}  // namespace sorrel::tool
