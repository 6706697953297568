//! The limit of file sizes (ulimit -f), which applies to unnamed shared memory, too.
#pragma once

#include <cerrno>
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

}  // namespace sorrel::os
