//! WorkerNodes - on which memory node each worker of a process is, and which workers are near it.
//!
//! Pure, and constant after construction. A worker is on the node of the cpu on which its thread
//! starts; that the system may move the thread is not known here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "os/memory_nodes.hpp"

namespace sorrel::core {

class WorkerNodes {
 public:
  /// `cpus`: of each worker; empty: not known, and so are the nodes.
  WorkerNodes(const os::MemoryNodes& machine, std::span<const int> cpus);

  /// Whether the machine has several nodes, and that of each worker is known.
  [[nodiscard]] bool are_known() const { return !nodes_.empty(); }

  /// Whether they are on several nodes.
  [[nodiscard]] bool are_several() const { return !orders_.empty(); }

  /// -1: not known.
  [[nodiscard]] int node_of(std::uint32_t worker) const {
    return worker < nodes_.size() ? nodes_[worker] : -1;
  }

  /// The order in which `worker` looks for work of others, or for others to wake: i of 1 to
  /// worker_count - 1 gives each other worker once. Nearer ones come first, and of equally near
  /// ones those that follow `worker`.
  [[nodiscard]] std::uint32_t other(std::uint32_t worker,
                                    std::uint32_t i,
                                    std::uint32_t worker_count) const {
    return orders_.empty() ? (worker + i) % worker_count : orders_[worker][i - 1];
  }

 private:
  std::vector<int> nodes_;
  /// For each worker, all other ones; empty if all are equally near.
  std::vector<std::vector<std::uint32_t>> orders_;
};

}  // namespace sorrel::core
