//! TestPlan - the runs of `sorrel test`: with which options of `sorrel run` each starts the
//! program. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

namespace sorrel::tool {

/// The options of `sorrel test`, as text; "": not given.
struct TestOptions {
  std::string ranks;
  std::string few;
  std::string wire;
  std::string schedules;
  std::string time_limit;
  std::string only;
  std::vector<std::string> run_options;  ///< of `sorrel run`, in every run
  std::string junit;                     ///< a file
  std::string sarif;                     ///< a file
};

enum class TestKind { ranks, network, check, schedules };

struct TestRun {
  TestKind kind = TestKind::ranks;
  std::string name;                  ///< "1000 ranks, a slow network"
  std::vector<std::string> options;  ///< of `sorrel run`

  /// It looks for errors in calls of MPI; else the program only has to end well.
  [[nodiscard]] bool is_checked() const {
    return kind == TestKind::check || kind == TestKind::schedules;
  }
};

struct TestPlan {
  std::vector<TestRun> runs;
  std::chrono::milliseconds time_limit{};  ///< of each run
};

/// In the order: numbers of ranks, network, check, schedules.
[[nodiscard]] Result<TestPlan> plan_tests(const TestOptions& options);

}  // namespace sorrel::tool
