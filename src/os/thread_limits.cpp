#include "os/thread_limits.hpp"

#include <algorithm>
#include <sys/resource.h>

#include "os/cgroup.hpp"

namespace sorrel::os {

namespace {

std::optional<std::uint64_t> limit_of(decltype(RLIMIT_NPROC) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

std::optional<std::uint64_t> thread_limit() {
  std::optional<std::uint64_t> least = limit_of(RLIMIT_NPROC);
  if (const auto pids = pids_limit())
    least = std::min(least.value_or(pids->threads), pids->threads);
  return least;
}

std::string describe_thread_limits() {
  const auto threads = limit_of(RLIMIT_NPROC);
  std::string text = "ulimit -u is " + (threads ? std::to_string(*threads) : "unlimited");
  if (const auto pids = pids_limit())
    text += ", " + pids->file + " is " + std::to_string(pids->threads);
  // Stacks of threads take address space.
  if (const auto bytes = limit_of(RLIMIT_AS))
    text += ", ulimit -v is " + std::to_string(*bytes / 1024);
  return text;
}

}  // namespace sorrel::os
