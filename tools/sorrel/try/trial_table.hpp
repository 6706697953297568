//! The results of `sorrel try` as a table: for a terminal, as Markdown, CSV and JSON. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/sorrel/try/trial.hpp"
#include "tools/sorrel/try/verdict.hpp"

namespace sorrel::tool {

/// What a table says beside its rows.
struct TrialSummary {
  std::vector<std::string> program = {};  ///< with its arguments
  std::string machine = {};               ///< "node7, 2 cores"
  std::uint64_t cores = 1;
  std::size_t run_count = 0;
  double elapsed_s = 0;
  bool is_sure = false;
  Verdict verdict = {};
  std::string sentence = {};
  std::vector<std::string> warnings = {};
};

[[nodiscard]] std::string terminal_table(const TrialSummary& summary,
                                         std::span<const Trial> trials,
                                         bool has_colours);
[[nodiscard]] std::string markdown_table(const TrialSummary& summary,
                                         std::span<const Trial> trials);
/// A row for each trial; times in seconds.
[[nodiscard]] std::string csv_table(const TrialSummary& summary, std::span<const Trial> trials);
/// docs/reference/file-formats.md has the names.
[[nodiscard]] std::string json_table(const TrialSummary& summary, std::span<const Trial> trials);

/// What makes the times doubtful: other work, runs that took far longer, differing outputs.
[[nodiscard]] std::vector<std::string> warnings_on(std::span<const Trial> trials,
                                                   std::size_t unsteady_count);

}  // namespace sorrel::tool
