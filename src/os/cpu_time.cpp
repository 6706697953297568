#include "os/cpu_time.hpp"

#include <ctime>

namespace sorrel::os {

namespace {

// The kernel's numbers of clocks of other processes and threads (clock_getcpuclockid(3)).
constexpr unsigned scheduled_time = 2;
constexpr unsigned of_thread = 4;

std::optional<std::int64_t> read(pid_t number, unsigned kind) {
  timespec time{};
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(number) << 3 | kind);
  if (clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::optional<std::int64_t> cpu_ns_of_process(pid_t process) {
  return read(process, scheduled_time);
}

std::optional<std::int64_t> cpu_ns_of_thread(pid_t thread) {
  return read(thread, scheduled_time | of_thread);
}

}  // namespace sorrel::os
