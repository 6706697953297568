//! Cores of a node, divided among the processes that a host MPI's launcher has started there.
//!
//! Pure. Processes that may use exactly the same cpus divide them in the order of their numbers. If
//! the launcher has bound each process to its own cpus, they are divided already.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

namespace sorrel::runtime {

inline constexpr int host_cpu_count_max = 1024;

/// The cpus that the launcher lets a process use.
struct HostCores {
  std::bitset<host_cpu_count_max> cpus;
  /// Identifies its node.
  std::int32_t node = 0;
};

/// The part of `cpus` that belongs to process `own`: `cpus` are those of its HostCores, in the
/// order of preference. Empty if there are fewer cpus than processes that share them.
[[nodiscard]] std::vector<int> own_share(std::span<const HostCores> processes,
                                         std::size_t own,
                                         std::span<const int> cpus);

/// How many processes are on the node of `own`.
[[nodiscard]] std::uint32_t count_on_node(std::span<const HostCores> processes, std::size_t own);

}  // namespace sorrel::runtime
