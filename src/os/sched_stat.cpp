#include "os/sched_stat.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace sorrel::os {

int thread_number() {
  return static_cast<int>(syscall(SYS_gettid));
}

SchedStat::SchedStat(int thread) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", thread);
  file_ = open(path, O_RDONLY | O_CLOEXEC);
}

SchedStat::SchedStat(SchedStat&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

SchedStat::~SchedStat() {
  if (file_ >= 0) close(file_);
}

std::optional<RunTimes> SchedStat::read() const {
  char text[96];
  if (file_ < 0) return std::nullopt;
  const ssize_t length = pread(file_, text, sizeof text - 1, 0);
  if (length <= 0) return std::nullopt;
  text[length] = '\0';
  char* rest = nullptr;
  RunTimes times;
  times.run_ns = std::strtoll(text, &rest, 10);
  times.delay_ns = std::strtoll(rest, &rest, 10);
  times.slice_count = std::strtoll(rest, nullptr, 10);
  return times;
}

}  // namespace sorrel::os
