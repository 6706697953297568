//! ProcessEnd - a process of a job that has died without a report of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sorrel::tool {

struct ProcessEnd {
  std::uint32_t process = 0;
  std::uint64_t first_rank = 0;
  std::uint64_t rank_count = 1;
  int status = 0;
  std::optional<int> signal;
  /// That goes on, or has gone: the status of what ran below it is not known. "": none.
  std::string wrapper{};

  /// "process 3 (ranks 24-31)".
  [[nodiscard]] std::string name() const;

  /// What has happened to it: the words behind the name.
  [[nodiscard]] std::string what() const;
};

/// Prints a line.
void print_process_end(const ProcessEnd& end);

/// Writes the same into the user's file; "": none.
void write_process_end(const ProcessEnd& end, const std::string& report_file);

/// Prints a line, and writes the same into the user's file; "": none.
void report_process_end(const ProcessEnd& end, const std::string& report_file);

}  // namespace sorrel::tool
