//! JUnit - results as JUnit XML, which CI systems read: a test case for each run, and for each
//! finding of a check. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/sorrel/check/findings.hpp"

namespace sorrel::tool {

struct JunitCase {
  std::string name;
  double seconds = 0;
  std::string failure;  ///< one line; "": passed
  std::string details;  ///< of the failure
};

struct JunitRun {
  int status = 0;  ///< of `sorrel run`
  double seconds = 0;
  std::vector<Found> findings;
  bool is_checked = false;
};

/// The cases of a run. A check without findings is a case, too.
[[nodiscard]] std::vector<JunitCase> cases_of(const JunitRun& run);

/// One case for each finding, which has failed. `prefix` begins their names.
[[nodiscard]] std::vector<JunitCase> cases_of(const std::vector<Found>& findings,
                                              const std::string& prefix);

/// The file. `program`: its name, for the suite and the classes.
[[nodiscard]] std::string junit_of(const std::string& program, const std::vector<JunitCase>& cases);

}  // namespace sorrel::tool
