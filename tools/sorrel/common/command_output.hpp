//! CommandOutput - runs another program to its end and reads what it prints to both streams.
//!
//! Blocks until the program has ended. Its standard input is the caller's.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace sorrel::tool {

struct CommandOutput {
  int error = 0;   ///< errno, if the program could not be started
  int status = 0;  ///< of waitpid()
  std::string text;
  bool is_late = false;  ///< killed at the time limit
};

inline constexpr std::chrono::hours no_time_limit{24 * 365};

/// `words`: the program, by name or path, and its arguments. It is killed after `limit`; a process
/// that it has started may then go on.
[[nodiscard]] CommandOutput output_of(std::vector<std::string> words,
                                      std::chrono::milliseconds limit = no_time_limit);

}  // namespace sorrel::tool
