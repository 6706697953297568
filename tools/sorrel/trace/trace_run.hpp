//! TraceRun - what `sorrel run --trace FILE`, `--profile`, `--summary` and `--profile-json FILE`
//! make of the events of a job: the workers write them into a folder, FILE.parts or a temporary
//! one.
#pragma once

#include <cstdint>
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

/// Makes the folder and returns its absolute path. Parts of an earlier run are removed from it.
[[nodiscard]] Result<std::string> make_trace_folder(const TraceRequest& request);

/// Makes the folder under a host MPI, where every process has a `sorrel run` of its own, which may
/// already write: nothing is removed. `job`: a name that all processes of the job know, and no
/// other job; the folder of a profile is in the working directory, which the nodes are expected to
/// share.
[[nodiscard]] Result<std::string> make_host_trace_folder(const TraceRequest& request,
                                                         const std::string& job);

/// Writes what was asked for, prints what went wrong, and removes the folder; it stays if a file
/// could not be written. A signal that ends commands ends this, too: then nothing is left, and the
/// signal is pending in the caller, which has it blocked.
void finish_trace(const TraceRequest& request, const std::string& folder);

/// A process under a host MPI that has ended.
struct HostProcess {
  std::uint32_t index = 0;
  std::uint32_t count = 1;  ///< processes of the job
  std::string job;          ///< as above
  bool has_failed = false;
};

/// Records in the folder that the parts of `own` are complete. The first process then waits until
/// those of all others are, for 10 s at most (0.2 s if it has failed), and does what finish_trace()
/// does. If some are missing, as on nodes that do not share the folder, it says so.
void finish_host_trace(const TraceRequest& request,
                       const std::string& folder,
                       const HostProcess& own);

}  // namespace sorrel::tool
