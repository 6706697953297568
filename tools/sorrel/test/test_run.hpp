//! perform - one run of `sorrel test`: starts `sorrel run`, waits for it within a limit, and reads
//! what it has found.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tools/sorrel/check/findings.hpp"
#include "tools/sorrel/test/test_plan.hpp"

namespace sorrel::tool {

struct TestOutcome {
  std::string failure;              ///< one line: how the run has failed; "" if it has not
  std::vector<std::string> repeat;  ///< the command that does the same again
  double seconds = 0;
  std::string output;           ///< of the run, both streams: its end, if it is long
  std::vector<Found> findings;  ///< of a check; or where a deadlock or a crash was

  [[nodiscard]] bool has_passed() const { return failure.empty() && findings.empty(); }
};

/// What all runs of a test share.
struct TestSubject {
  std::string command;                ///< the path of `sorrel`
  std::vector<std::string> program;   ///< with its arguments
  std::string folder;                 ///< for files of a run
  std::chrono::milliseconds limit{};  ///< of each run
};

/// A run that has not ended at the limit is asked what its ranks do (SIGUSR1), and killed. The
/// program reads no input.
[[nodiscard]] TestOutcome perform(const TestRun& run, const TestSubject& subject);

}  // namespace sorrel::tool
