//! The limit of file sizes (ulimit -f), which applies to unnamed shared memory, too.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <sys/resource.h>

namespace sorrel::os {

/// Whether a file may have this size; if not, errno is EFBIG. A write beyond the limit raises
/// SIGXFSZ, which ends the process.
[[nodiscard]] inline bool may_have_file_of(std::size_t bytes) {
  struct rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes) return true;
  errno = EFBIG;
  return false;
}

/// From now on a write beyond the limit is an error, EFBIG, in this process and in programs that it
/// starts.
inline void make_file_size_limit_an_error() {
  struct sigaction ignored{};
  ignored.sa_handler = SIG_IGN;
  (void)sigaction(SIGXFSZ, &ignored, nullptr);
}

}  // namespace sorrel::os
