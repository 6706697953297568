//! MemoryNodes - the memory nodes of the machine (NUMA): which cpus are next to each, and how far
//! they are from each other.
//!
//! Read from the kernel's files; one small file where there is one node. Constant afterwards, so
//! any thread. Where the kernel tells nothing there is one node.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

namespace sorrel::os {

class MemoryNodes {
 public:
  struct Node {
    /// The kernel's.
    int number = 0;
    /// Ascending; a node may have memory only.
    std::vector<int> cpus;
    /// To each node, in the order of nodes(): 10 is its own memory.
    std::vector<int> distances;
  };

  /// The longest of all distances.
  static constexpr int not_known = std::numeric_limits<int>::max();

  /// One node.
  MemoryNodes() = default;

  /// The nodes that `folder` describes.
  [[nodiscard]] static MemoryNodes read(const std::string& folder = "/sys/devices/system/node");

  [[nodiscard]] bool are_several() const { return nodes_.size() > 1; }

  /// By number. Empty if there is one.
  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }

  /// The number of the node next to the cpu; -1: not known, or there is one node.
  [[nodiscard]] int node_of(int cpu) const;

  /// Between two numbers; not_known if one is not that of a node.
  [[nodiscard]] int distance(int from, int to) const;

 private:
  [[nodiscard]] const Node* find(int number) const;

  std::vector<Node> nodes_;
};

}  // namespace sorrel::os
