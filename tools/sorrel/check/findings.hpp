//! Findings - what the checker has found in a run (src/check/finding_log.hpp writes the file), with
//! source lines, and findings of several ranks at one place as one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

#include "tools/sorrel/check/finding_kinds.hpp"
#include "tools/sorrel/common/code_files.hpp"

namespace sorrel::tool {

/// A call of MPI in the program.
struct FoundCall {
  std::string call;                 ///< "MPI_Send"; "" if it is not in a call
  CodePlace place;                  ///< no file: not known
  std::vector<std::int32_t> ranks;  ///< ascending
};

struct RelatedCall {
  FoundCall call;
  std::string text;
};

struct Found {
  const FindingKind* kind = nullptr;
  FoundCall call;
  std::string text;  ///< of the first of the ranks
  std::vector<RelatedCall> related = {};
  /// With --schedules: the seeds of the schedules in which it was found.
  std::vector<std::uint64_t> seeds = {};
};

/// What a checked run has shown.
struct CheckedRun {
  std::vector<Found> findings;  ///< in the order in which they were found
  /// Whether anything in the run depended on the order in which messages arrived.
  bool has_decisions = false;
  /// Equal in runs in which the same was decided. Of ranks that have called MPI_Finalize.
  std::uint64_t outcome = 0;
};

/// Reads the folder of a checked run. Lines that are damaged or cut off are left out.
[[nodiscard]] Result<CheckedRun> read_checked_run(const std::string& folder);

/// Adds a finding, or its ranks and schedules to an equal one.
void add_finding(std::vector<Found>& findings, Found found);

/// For people: a few lines for each.
[[nodiscard]] std::string text_of(const std::vector<Found>& findings);

/// An object with an array of them.
[[nodiscard]] std::string json_of(const std::vector<Found>& findings);

/// What json_of() has written; an error for other text.
[[nodiscard]] Result<std::vector<Found>> findings_of(const std::string& json);

/// SARIF 2.1.0, which CI systems show beside the code, by the tool of this name. Source files are
/// named as they are found below the current folder.
[[nodiscard]] std::string sarif_of(const std::vector<Found>& findings, const std::string& tool);

}  // namespace sorrel::tool
