#include "os/processors.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <unistd.h>

#include "os/cpu_set.hpp"
#include "os/memory_nodes.hpp"

namespace sorrel::os {

namespace {

std::string folder_of_cpu(int cpu) {
  return "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
}

/// The first number in a file; `otherwise` if there is no such file.
int first_number(const std::string& path, int otherwise) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return otherwise;
  int number = 0;
  const bool has_number = std::fscanf(file, "%d", &number) == 1;
  std::fclose(file);
  return has_number ? number : otherwise;
}

int last_cache(int cpu) {
  constexpr int cache_count_max = 16;
  int found = cpu;
  for (int i = 0; i < cache_count_max; ++i) {
    const std::string cache = folder_of_cpu(cpu) + "/cache/index" + std::to_string(i);
    if (access(cache.c_str(), F_OK) != 0) break;
    found = first_number(cache + "/shared_cpu_list", found);
  }
  return found;
}

}  // namespace

std::vector<Processor> allowed_processors() {
  const MemoryNodes nodes = MemoryNodes::read();
  std::vector<Processor> processors;
  for (const int cpu : allowed_cpus()) {
    const std::string topology = folder_of_cpu(cpu) + "/topology";
    processors.push_back({.cpu = cpu,
                          .core = first_number(topology + "/thread_siblings_list", cpu),
                          .cache = last_cache(cpu),
                          .socket = first_number(topology + "/core_siblings_list", 0),
                          .node = std::max(nodes.node_of(cpu), 0)});
  }
  return processors;
}

}  // namespace sorrel::os
