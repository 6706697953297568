#include "core/worker_nodes.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace sorrel::core {

WorkerNodes::WorkerNodes(const os::MemoryNodes& machine, std::span<const int> cpus) {
  if (!machine.are_several() || cpus.empty()) return;
  for (const int cpu : cpus)
    nodes_.push_back(machine.node_of(cpu));
  if (std::ranges::adjacent_find(nodes_, std::not_equal_to()) == nodes_.end()) return;
  const auto count = static_cast<std::uint32_t>(nodes_.size());
  std::vector<std::pair<int, std::uint32_t>> others;
  for (std::uint32_t worker = 0; worker < count; ++worker) {
    others.clear();
    for (std::uint32_t i = 1; i < count; ++i) {
      const std::uint32_t other = (worker + i) % count;
      others.emplace_back(machine.distance(nodes_[worker], nodes_[other]), other);
    }
    std::ranges::stable_sort(others, {}, [](const auto& entry) { return entry.first; });
    auto& order = orders_.emplace_back();
    for (const auto& [distance, other] : others)
      order.push_back(other);
  }
}

}  // namespace sorrel::core
