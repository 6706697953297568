//! JUnit - the result of a run as JUnit XML, which CI systems read: a test case for the run, and
//! with a check one for each kind of finding. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/sorrel/check/findings.hpp"

namespace sorrel::tool {

struct JunitRun {
  std::string name;  ///< of the program
  int status = 0;    ///< of `sorrel run`
  double seconds = 0;
  std::vector<Found> findings;
  bool is_checked = false;
};

[[nodiscard]] std::string junit_of(const JunitRun& run);

}  // namespace sorrel::tool
