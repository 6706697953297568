//! The limit of open files (ulimit -n).
#pragma once

#include <algorithm>
#include <sys/resource.h>

namespace sorrel::os {

/// From now on this process may have `count` files open, or as many as the system allows (ulimit
/// -Hn). A larger limit stays.
inline void allow_open_files(rlim_t count) {
  struct rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
  limit.rlim_cur = std::min(limit.rlim_max, count);
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

/// How many files this process may have open.
[[nodiscard]] inline rlim_t open_files_max() {
  struct rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace sorrel::os
