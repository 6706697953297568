//! WorkerPlan - how many workers a job gets, on which cpus, and why.
//!
//! The decision is pure (plan_workers, choose_cpus), over what read_machine_limits() has read.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "governor/cpu_budget.hpp"
#include "tools/sorrel/machine/topology.hpp"

namespace sorrel::tool {

/// The largest number of workers; each pair of workers has a mailbox.
inline constexpr int workers_max = 1024;

struct MachineLimits : governor::CpuBudget {
  bool has_smt = false;  ///< cores run more than one hardware thread
};

[[nodiscard]] MachineLimits read_machine_limits();

/// Number of workers by default: the budget, at most workers_max.
[[nodiscard]] int default_workers(const MachineLimits& limits);

using TopologyReader = std::function<std::optional<Topology>()>;

/// One cpu per worker: each core's first hardware thread before any core's second, in topology
/// order. Empty (unbound) if there are more workers than cpus. `read` is called only if there is a
/// choice.
[[nodiscard]] std::vector<int> choose_cpus(int workers,
                                           const MachineLimits& limits,
                                           const TopologyReader& read);

/// For more workers than cpus: the cpu of each worker; neighbours share one.
[[nodiscard]] std::vector<int> share_cpus(int workers, const MachineLimits& limits);

}  // namespace sorrel::tool
