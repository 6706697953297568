//! CPU sets - which cpus this process may run on, going to one of them, and lists of cpu numbers as
//! text.
//!
//! Any thread may call; nothing is cached. Counts hardware threads, not cores: who shares a core
//! with whom is the topology's business. Knows nothing of quotas (os/cgroup.hpp). Limit: cpu
//! numbers below cpu_count_max.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::os {

/// Cpu numbers are below this; Linux is built for at most 8192 today.
inline constexpr int cpu_count_max = 65536;

/// The cpus in the calling thread's affinity mask, ascending. Empty only if the kernel refuses to
/// tell.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Has the calling thread go on there; where it may run later stays as it was. Nothing happens when
/// the kernel refuses.
void move_to_cpu(int cpu);

/// Where part `index` of `part_count` begins when `cpu_count` cpus are dealt out in nearly equal
/// parts, neighbours side by side; part part_count begins at their end. With more parts than cpus,
/// several begin at the same one.
[[nodiscard]] constexpr std::size_t part_begin(std::size_t cpu_count,
                                               std::size_t index,
                                               std::size_t part_count) {
  return cpu_count * index / part_count;
}

/// "0,2,3": every number, in the order given.
[[nodiscard]] std::string format_cpu_list(std::span<const int> cpus);

/// "0,2-3": neighbours in the order given are joined, for people to read.
[[nodiscard]] std::string format_cpu_ranges(std::span<const int> cpus);

/// Reads "0,2-3" in the order written; nothing if it is not such a list, or one of more than
/// cpu_count_max numbers. An empty text is an empty list.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

}  // namespace sorrel::os
