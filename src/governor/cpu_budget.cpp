#include "governor/cpu_budget.hpp"

#include <algorithm>

#include "os/cpu_set.hpp"

namespace sorrel::governor {

std::uint32_t CpuBudget::thread_count(std::uint32_t sharer_count) const {
  auto count = static_cast<std::uint32_t>(allowed_cpus.size());
  if (quota)
    count = std::min(count, static_cast<std::uint32_t>(os::whole_cpus(*quota)) / sharer_count);
  return std::max(count, 1U);
}

CpuBudget read_cpu_budget() {
  return {.allowed_cpus = os::allowed_cpus(), .quota = os::cpu_quota()};
}

}  // namespace sorrel::governor
