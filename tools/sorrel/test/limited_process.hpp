//! LimitedProcess - a program that gets a time limit, and says what it does before it is killed.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace sorrel::tool {

struct LimitedProcess {
  int error = 0;          ///< errno, if the program could not be started
  int status = 0;         ///< of waitpid()
  bool is_late = false;   ///< it had not ended at the limit
  std::string text = {};  ///< the last bytes of what it has printed on both streams
};

/// Runs `words`, a path and arguments, to its end; without input. At the limit it gets SIGUSR1,
/// soon after that SIGTERM, then SIGKILL. It ends with the caller's thread (SIGTERM).
[[nodiscard]] LimitedProcess run_limited(std::vector<std::string> words,
                                         std::chrono::milliseconds limit);

}  // namespace sorrel::tool
