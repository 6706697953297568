//! TopScreen - `sorrel top` on a terminal: refreshes in place until a key ends it.
//!
//! Built if the curses library is installed.
#pragma once

#include <cstdint>
#include <string>

namespace sorrel::tool {

struct TopOptions {
  double interval_seconds = 1;
  /// A number of a job; "": all jobs of this user, one at a time.
  std::string job;
};

/// Whether this command was built with the library.
[[nodiscard]] bool has_top_screen();

/// Returns the exit status.
[[nodiscard]] int run_top_screen(const TopOptions& options);

}  // namespace sorrel::tool
