//! ReportFile - what ended the job, as JSON in a file of the user
//! (docs/reference/file-formats.md, "Reports of the end").
//!
//! The process that ends the job writes it after its text on standard error; for a process that has
//! died without a word, the command that started it. A file that cannot be
//! written is named in a line there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "report/wait_table.hpp"
#include "symbols/source_lines.hpp"

namespace sorrel::report {

/// A crash, an error after which the job cannot go on, or a process that something else has killed.
struct Failure {
  std::string_view kind;  ///< "crash", "error" or "killed"
  int status = 0;
  std::string_view what;
  std::optional<std::int32_t> rank;
  std::optional<std::uint32_t> process;  ///< in a job of several
  std::optional<int> signal;
  /// That led here, the innermost first; empty texts end them.
  std::span<const symbols::SourceText> calls;
};

class ReportFile {
 public:
  /// `path`: "" writes nothing.
  explicit ReportFile(std::string path) : path_(std::move(path)) {}

  /// Replaces what was written before. Safe in a signal handler: no allocation, no lock.
  void write(const Failure& failure) const;

  /// Reports all ranks that wait.
  void write_deadlock(const WaitTable& table, std::int32_t rank_count, int status) const;

 private:
  const std::string path_;
};

}  // namespace sorrel::report
