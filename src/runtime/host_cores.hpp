//! Cores of a node, divided among the processes that a host MPI's launcher has put there.
//!
//! Pure. Processes that may use exactly the same cpus divide them in the order of their numbers;
//! a launcher that has bound each to its own has divided them already.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

namespace sorrel::runtime {

inline constexpr int host_cpu_count_max = 1024;

/// What a process may use, as its launcher has left it.
struct HostCores {
  std::bitset<host_cpu_count_max> cpus;
  /// Names its node.
  std::int32_t node = 0;
};

/// The part of `cpus` that is process `own`'s: `cpus` are those of its HostCores, in the order of
/// preference. Empty when there are fewer cpus than processes that share them.
[[nodiscard]] std::vector<int> own_share(std::span<const HostCores> processes,
                                         std::size_t own,
                                         std::span<const int> cpus);

/// How many processes are on the node of `own`.
[[nodiscard]] std::uint32_t count_on_node(std::span<const HostCores> processes, std::size_t own);

}  // namespace sorrel::runtime
