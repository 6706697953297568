//! CommandOutput - runs another program to its end and reads what it prints to both streams.
//!
//! Blocks until the program has ended. Its standard input is the caller's.
#pragma once

#include <string>
#include <vector>

namespace sorrel::tool {

struct CommandOutput {
  int error = 0;   ///< errno, if the program could not be started
  int status = 0;  ///< of waitpid()
  std::string text;
};

/// `words`: the program, by name or path, and its arguments.
[[nodiscard]] CommandOutput output_of(std::vector<std::string> words);

}  // namespace sorrel::tool
