#include "os/cpu_set.hpp"

#include <algorithm>
#include <cerrno>
#include <sched.h>

#include "base/check.hpp"

namespace sorrel::os {

std::vector<int> allowed_cpus(int thread) {
  // The kernel rejects a mask shorter than its own, and no call returns its length.
  for (int cpu_count = 1024; cpu_count <= cpu_count_max; cpu_count *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(cpu_count));
    const std::size_t size_bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpu_count));
    if (set == nullptr) return {};
    CPU_ZERO_S(size_bytes, set);
    const bool known = sched_getaffinity(thread, size_bytes, set) == 0;
    const bool too_short = !known && errno == EINVAL;
    std::vector<int> cpus;
    for (int cpu = 0; known && cpu < cpu_count; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size_bytes, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (!too_short) return cpus;
  }
  return {};
}

bool set_allowed_cpus(int thread, std::span<const int> cpus) {
  if (cpus.empty()) return false;
  SORREL_ASSERT(std::ranges::min(cpus) >= 0, "processor %d", std::ranges::min(cpus));
  const std::size_t cpu_count = static_cast<std::size_t>(std::ranges::max(cpus)) + 1;
  const std::size_t size_bytes = CPU_ALLOC_SIZE(cpu_count);
  cpu_set_t* set = CPU_ALLOC(cpu_count);
  if (set == nullptr) return false;
  CPU_ZERO_S(size_bytes, set);
  for (const int cpu : cpus)
    CPU_SET_S(static_cast<std::size_t>(cpu), size_bytes, set);
  const bool is_set = sched_setaffinity(thread, size_bytes, set) == 0;
  CPU_FREE(set);
  return is_set;
}

int current_cpu() {
  return sched_getcpu();
}

void move_to_cpu(int cpu) {
  const std::vector<int> allowed = allowed_cpus();
  // On return from the first call the thread runs on that cpu.
  if (!allowed.empty() && set_allowed_cpus(0, {&cpu, 1})) set_allowed_cpus(0, allowed);
}

std::string format_cpu_list(std::span<const int> cpus) {
  std::string text;
  for (const int cpu : cpus) {
    if (!text.empty()) text += ',';
    text += std::to_string(cpu);
  }
  return text;
}

std::string format_cpu_ranges(std::span<const int> cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    SORREL_ASSERT(first == 0 || cpus[first] > cpus[first - 1], "processor %d behind %d",
                  cpus[first], cpus[first - 1]);
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
      ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace sorrel::os
