//! report_findings - where a job was at its end, from the file of --report-json: a finding that CI
//! systems show beside the line. Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/sorrel/check/findings.hpp"

namespace sorrel::tool {

/// The places where ranks wait in a deadlock, or where a crash was. None for other ends, for
/// damaged text, and where no line is known.
[[nodiscard]] std::vector<Found> report_findings(const std::string& text);

/// Whether that file says that a deadlock has ended the job.
[[nodiscard]] bool reports_deadlock(const std::string& text);

}  // namespace sorrel::tool
