//! FindingLine - a line of the file into which a process of a checked run writes its findings
//! (src/check), and which `sorrel run` reads. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sorrel::report {

/// How the names of files in the folder of a checked run begin; the identifier of the process
/// follows.
inline constexpr const char* findings_file_name = "findings-";

/// Kinds of lines that are no findings: another call that belongs to the finding above, and how
/// often the decisions of a rank depended on the order of messages.
inline constexpr std::string_view related_call_kind = "+";
inline constexpr std::string_view outcome_kind = "=";

struct FindingLine {
  /// One of the table in tools/sorrel/check/finding_kinds.cpp, or one of the above.
  std::string_view kind;
  std::int32_t rank = 0;
  /// The name of the call; of an outcome the number of decisions.
  std::string_view call;
  /// Where the call is: in a file of code, or in a script.
  std::string_view path;
  std::uint64_t offset = 0;
  std::string_view script;
  /// For an outcome: a hash of the decisions.
  std::string_view text;
};

/// With a newline at its end; tabs and newlines within `path`, `script` and `text` become spaces.
[[nodiscard]] std::string finding_line_text(const FindingLine& line);

/// `text` without its newline; the result refers to it. Nothing if it is not a whole line.
[[nodiscard]] std::optional<FindingLine> parse_finding_line(std::string_view text);

}  // namespace sorrel::report
