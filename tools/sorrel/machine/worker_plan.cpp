#include "tools/sorrel/machine/worker_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <unordered_map>

#include "base/check.hpp"
#include "os/cpu_set.hpp"

namespace sorrel::tool {

namespace {

bool smt_is_active() {
  return std::ifstream("/sys/devices/system/cpu/smt/active").get() == '1';
}

}  // namespace

MachineLimits read_machine_limits() {
  return {governor::read_cpu_budget(), smt_is_active()};
}

int default_workers(const MachineLimits& limits) {
  return static_cast<int>(std::min<std::uint32_t>(limits.thread_count(), workers_max));
}

std::vector<int> choose_cpus(int workers, const MachineLimits& limits, const TopologyReader& read) {
  SORREL_ASSERT(workers >= 0 && std::ranges::is_sorted(limits.allowed_cpus), "cores of %d workers",
                workers);
  const auto wanted = static_cast<std::size_t>(workers);
  if (wanted > limits.allowed_cpus.size()) return {};
  std::vector<int> cpus = limits.allowed_cpus;
  // One worker is as well off on the first cpu as on any other.
  const bool has_choice = wanted > 1 && (wanted < cpus.size() || limits.has_smt);
  const auto topology = has_choice ? read() : std::nullopt;
  if (topology) {
    struct Place {
      int rank_in_core;
      std::size_t position;
    };

    std::unordered_map<int, Place> places;
    // Siblings count from the first allowed one: a mask may hold only the second thread of a core.
    std::unordered_map<int, int> taken_in_core;
    for (std::size_t position = 0; position < topology->threads.size(); ++position) {
      const HardwareThread& thread = topology->threads[position];
      if (!std::binary_search(limits.allowed_cpus.begin(), limits.allowed_cpus.end(), thread.cpu))
        continue;
      places[thread.cpu] = {taken_in_core[thread.core]++, position};
    }
    const auto place_of = [&](int cpu) {
      const auto found = places.find(cpu);
      return found == places.end() ? Place{1 << 20, 0} : found->second;
    };
    std::stable_sort(cpus.begin(), cpus.end(), [&](int left, int right) {
      const Place a = place_of(left);
      const Place b = place_of(right);
      return a.rank_in_core != b.rank_in_core ? a.rank_in_core < b.rank_in_core
                                              : a.position < b.position;
    });
  }
  cpus.resize(wanted);
  return cpus;
}

std::vector<int> share_cpus(int workers, const MachineLimits& limits) {
  const auto wanted = static_cast<std::size_t>(workers);
  const std::size_t cpu_count = limits.allowed_cpus.size();
  if (cpu_count == 0) return {};
  std::vector<int> cpus(wanted);
  for (std::size_t i = 0; i < wanted; ++i)
    cpus[i] = limits.allowed_cpus[os::part_begin(cpu_count, i, wanted)];
  return cpus;
}

}  // namespace sorrel::tool
