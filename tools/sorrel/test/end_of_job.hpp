//! EndOfJob - where a job was at its end, from the file of --report-json: a finding that CI systems
//! show beside the line. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/sorrel/check/findings.hpp"

namespace sorrel::tool {

struct EndOfJob {
  /// The places where ranks wait in a deadlock, or where a crash was. None for other ends, and
  /// where no line is known.
  std::vector<Found> findings;
  bool is_deadlock = false;
};

/// What the file says; nothing for damaged text.
[[nodiscard]] EndOfJob end_of_job(const std::string& text);

}  // namespace sorrel::tool
