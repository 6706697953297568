//! Check - one row of `sorrel selftest`: commands to run, and what must come of them.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace sorrel::tool {

using CheckCommand = std::vector<std::string>;  ///< a program and its arguments

struct Check {
  std::string name;
  CheckCommand compile = {};  ///< runs first, or empty; without its compiler the check is skipped
  CheckCommand run;
  std::vector<std::string> expected = {};  ///< texts that the output of `run` must contain
  bool must_fail = false;                  ///< `run` must end with a failure
};

struct CheckOutcome {
  enum class Verdict { passed, skipped, failed };
  Verdict verdict = Verdict::passed;
  std::string reason;    ///< one line: why it was skipped or has failed
  CheckCommand command;  ///< the one that failed
  std::string output;    ///< of that command
};

/// Runs the commands of `check`, each for at most `limit`.
[[nodiscard]] CheckOutcome perform(const Check& check, std::chrono::milliseconds limit);

}  // namespace sorrel::tool
