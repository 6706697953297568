//! Reports of `sorrel test`: lines for people, JUnit and SARIF for CI systems.
#pragma once

#include <string>
#include <vector>

#include "tools/sorrel/test/test_plan.hpp"
#include "tools/sorrel/test/test_run.hpp"

namespace sorrel::tool {

struct TestResult {
  TestRun run;
  TestOutcome outcome;
};

/// A line, and below it what helps to find the reason of a failure.
[[nodiscard]] std::string text_of(const TestResult& result);

/// "3 runs passed, 1 failed; 2 findings".
[[nodiscard]] std::string summary_of(const std::vector<TestResult>& results);

/// 0: all runs have passed; exit_findings: none has failed, and a check has found something; 1: a
/// run has failed.
[[nodiscard]] int status_of(const std::vector<TestResult>& results);

/// Writes the files of --junit and --sarif; false if one of them cannot be written.
[[nodiscard]] bool write_files(const std::vector<TestResult>& results,
                               const TestOptions& options,
                               const std::string& program);

}  // namespace sorrel::tool
