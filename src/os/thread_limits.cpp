#include "os/thread_limits.hpp"

#include <sys/resource.h>

#include "os/cgroup.hpp"

namespace sorrel::os {

namespace {

std::string limit_of(decltype(RLIMIT_NPROC) resource, std::uint64_t unit) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return std::to_string(limit.rlim_cur / unit);
}

}  // namespace

std::string describe_thread_limits() {
  std::string text = "ulimit -u is " + limit_of(RLIMIT_NPROC, 1);
  if (const auto pids = pids_limit())
    text += ", " + pids->file + " is " + std::to_string(pids->threads);
  // Stacks of threads take address space.
  const std::string addresses = limit_of(RLIMIT_AS, 1024);
  if (addresses != "unlimited") text += ", ulimit -v is " + addresses;
  return text;
}

}  // namespace sorrel::os
