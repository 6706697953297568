#include "runtime/host/host_cores.hpp"

#include <algorithm>

#include "os/cpu_set.hpp"

namespace sorrel::runtime {

std::vector<int> own_share(std::span<const HostCores> processes,
                           std::size_t own,
                           std::span<const int> cpus) {
  std::size_t sharer_count = 0;
  std::size_t own_index = 0;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (processes[i].node != processes[own].node || processes[i].cpus != processes[own].cpus)
      continue;
    if (i == own) own_index = sharer_count;
    ++sharer_count;
  }
  if (cpus.size() < sharer_count) return {};
  const std::size_t first = os::part_begin(cpus.size(), own_index, sharer_count);
  const std::size_t last = os::part_begin(cpus.size(), own_index + 1, sharer_count);
  const auto part = cpus.subspan(first, last - first);
  return {part.begin(), part.end()};
}

std::uint32_t count_on_node(std::span<const HostCores> processes, std::size_t own) {
  return static_cast<std::uint32_t>(
      std::count_if(processes.begin(), processes.end(),
                    [&](const HostCores& other) { return other.node == processes[own].node; }));
}

}  // namespace sorrel::runtime
