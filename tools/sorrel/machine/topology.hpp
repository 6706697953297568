//! Topology - the machine's packages, cores, caches and memory nodes, read with hwloc.
//!
//! hwloc is loaded on first use; the runtime library never loads it, and `sorrel run` loads it
//! only if there is a choice. Opening it costs 0.2 ms, reading the machine 0.4 ms with the
//! components used here, and ten times as much with its plug-ins. Without hwloc nothing is
//! returned, and callers use the order of cpu numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sorrel::tool {

/// One hardware thread (PU), in topology order: neighbours in this order are neighbours on the
/// machine.
struct HardwareThread {
  int cpu = 0;   ///< the system's number
  int core = 0;  ///< index of its core, counted over the machine
};

/// A memory node.
struct MemoryNode {
  int number = 0;  ///< the system's
  unsigned long long size_bytes = 0;
  std::vector<int> cpus;  ///< ascending
};

struct CacheLevel {
  std::string name;  ///< "L1d", "L2", …
  int count = 0;
  unsigned long size_bytes = 0;  ///< of the first one
};

struct Topology {
  int package_count = 0;
  int core_count = 0;
  std::vector<MemoryNode> nodes;
  std::vector<HardwareThread> threads;
  std::vector<CacheLevel> caches;  ///< only on request
  std::string hwloc_version;
};

enum class TopologyDetail { threads_only, with_caches };

[[nodiscard]] std::optional<Topology> read_topology(TopologyDetail detail);

/// "0: cpus 0-3; 1: cpus 4-7": those of `cpus` that are next to each memory node; "" if the machine
/// has one node.
[[nodiscard]] std::string describe_nodes(const Topology& topology, std::span<const int> cpus);

}  // namespace sorrel::tool
