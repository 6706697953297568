#include "os/cpu_set.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sched.h>

namespace sorrel::os {

namespace {

std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value >= cpu_count_max) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::vector<int> allowed_cpus() {
  // The kernel rejects a mask shorter than its own, and no call returns its length.
  for (int cpu_count = 1024; cpu_count <= cpu_count_max; cpu_count *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(cpu_count));
    const std::size_t size_bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpu_count));
    if (set == nullptr) return {};
    CPU_ZERO_S(size_bytes, set);
    const bool known = sched_getaffinity(0, size_bytes, set) == 0;
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

void move_to_cpu(int cpu) {
  const std::vector<int> allowed = allowed_cpus();
  if (allowed.empty()) return;
  const std::size_t cpu_count = static_cast<std::size_t>(std::max(allowed.back(), cpu)) + 1;
  const std::size_t size_bytes = CPU_ALLOC_SIZE(cpu_count);
  cpu_set_t* set = CPU_ALLOC(cpu_count);
  if (set == nullptr) return;
  CPU_ZERO_S(size_bytes, set);
  CPU_SET_S(static_cast<std::size_t>(cpu), size_bytes, set);
  // On return the thread runs on that cpu.
  if (sched_setaffinity(0, size_bytes, set) == 0) {
    for (const int each : allowed)
      CPU_SET_S(static_cast<std::size_t>(each), size_bytes, set);
    sched_setaffinity(0, size_bytes, set);
  }
  CPU_FREE(set);
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
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
      ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  if (text.empty()) return cpus;
  do {
    const std::optional<int> first = take_number(text);
    if (!first) return std::nullopt;
    const std::optional<int> last = take(text, '-') ? take_number(text) : first;
    if (!last || *last < *first) return std::nullopt;
    if (cpus.size() + static_cast<std::size_t>(*last - *first) >= cpu_count_max)
      return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu)
      cpus.push_back(cpu);
  } while (take(text, ','));
  if (!text.empty()) return std::nullopt;
  return cpus;
}

}  // namespace sorrel::os
