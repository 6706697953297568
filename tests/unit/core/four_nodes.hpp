//! four_nodes - a machine of four memory nodes, as the kernel's files would describe it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "os/memory_nodes.hpp"
#include "unit/base/temporary_folder.hpp"

namespace sorrel::core {

/// Two packages with two nodes each, of two cpus: nodes of a package are nearer to each other.
inline os::MemoryNodes four_nodes() {
  const TemporaryFolder folder;
  const std::string root = folder.path();
  std::ofstream(root + "/online") << "0-3\n";
  const std::vector<std::string> distances = {"10 12 20 20", "12 10 20 20", "20 20 10 12",
                                              "20 20 12 10"};
  for (int node = 0; node < 4; ++node) {
    const std::string own = root + "/node" + std::to_string(node);
    std::filesystem::create_directories(own);
    std::ofstream(own + "/cpulist") << 2 * node << '-' << 2 * node + 1 << '\n';
    std::ofstream(own + "/distance") << distances[static_cast<std::size_t>(node)] << '\n';
  }
  return os::MemoryNodes::read(root);
}

}  // namespace sorrel::core
