#include "os/time_slice.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.hpp"

namespace sorrel::os {

namespace {

/// As in linux/sched/types.h, version 0, which C libraries of 2022 lack.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

static_assert(sizeof(Attributes) == 48);

std::optional<Attributes> attributes_of(int thread) {
  Attributes attributes;
  if (syscall(SYS_sched_getattr, thread, &attributes, sizeof attributes, 0U) != 0)
    return std::nullopt;
  const bool has_slices = attributes.policy == SCHED_OTHER || attributes.policy == SCHED_BATCH;
  // An older kernel leaves the slice 0.
  if (!has_slices || attributes.runtime_ns == 0) return std::nullopt;
  attributes.size = sizeof attributes;
  return attributes;
}

}  // namespace

std::optional<std::int64_t> time_slice(int thread) {
  const auto attributes = attributes_of(thread);
  if (!attributes) return std::nullopt;
  return static_cast<std::int64_t>(attributes->runtime_ns);
}

bool set_time_slice(int thread, std::int64_t slice_ns) {
  SORREL_ASSERT(slice_ns > 0, "%lld ns", static_cast<long long>(slice_ns));
  auto attributes = attributes_of(thread);
  if (!attributes) return false;
  attributes->runtime_ns = static_cast<std::uint64_t>(slice_ns);
  return syscall(SYS_sched_setattr, thread, &*attributes, 0U) == 0;
}

}  // namespace sorrel::os
