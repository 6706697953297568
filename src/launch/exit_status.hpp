//! The exit statuses of the command and of a job's processes that are not the program's own
//! (docs/settings.md, "Exit statuses").
#pragma once

namespace sorrel {

inline constexpr int exit_invalid_input = 2;  ///< Invalid input: nothing was started.
inline constexpr int exit_deadlock = 3;       ///< No rank can go on.
inline constexpr int exit_findings = 66;      ///< --check has found an error.
/// The system refused to start a file that looked right.
inline constexpr int exit_cannot_execute = 126;
inline constexpr int exit_not_found = 127;  ///< A compiler that does not exist.

/// The status of a failure that has a code: the low byte, which is all of a code that reaches the
/// parent; 1 where that is 0, since a failure must not look like success.
[[nodiscard]] constexpr int failure_status(int code) {
  const int low_byte = code & 0xff;
  return low_byte != 0 ? low_byte : 1;
}

}  // namespace sorrel
