//! TraceRun - what `sorrel run --trace FILE`, `--profile`, `--summary` and `--profile-json FILE`
//! make of the events of a job: the workers write them into a folder, FILE.parts or a temporary
//! one.
#pragma once

#include <string>

#include <sorrel/result.hpp>

namespace sorrel::tool {

/// What the user asks for; empty: not that.
struct TraceRequest {
  std::string trace;         ///< a file for Perfetto
  bool has_profile = false;  ///< a table on standard error
  bool has_summary = false;  ///< a line on standard error
  std::string profile_json;  ///< a file

  [[nodiscard]] bool needs_profile() const {
    return has_profile || has_summary || !profile_json.empty();
  }

  [[nodiscard]] bool any() const { return needs_profile() || !trace.empty(); }
};

/// Makes the folder and returns its absolute path. Parts of an earlier run are removed from it if
/// `is_only_process`; other processes may already write.
[[nodiscard]] Result<std::string> make_trace_folder(const TraceRequest& request,
                                                    bool is_only_process);

/// Writes what was asked for, prints what went wrong, and removes the folder; it stays if a file
/// could not be written.
void finish_trace(const TraceRequest& request, const std::string& folder);

}  // namespace sorrel::tool
