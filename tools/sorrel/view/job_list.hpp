//! JobList - the jobs of this user that run on this machine.
//!
//! A job is known by the marks of its processes (launch/process_mark.hpp), and has the number of
//! their common parent, `sorrel run`, or of its only process, which `sorrel run` has become.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include <sorrel/result.hpp>

#include "launch/job_spec.hpp"
#include "launch/process_mark.hpp"
#include "tools/sorrel/view/proc_files.hpp"

namespace sorrel::tool {

/// One that has started.
struct JobProcess {
  ProcessFacts facts;
  launch::JobSpec spec;
  launch::ProcessMark mark;

  /// The ranks [first, last) of the job; both 0 if only the host MPI knows them.
  struct Ranks {
    std::int32_t first = 0;
    std::int32_t last = 0;
  };

  [[nodiscard]] Ranks ranks() const;
};

struct RunningJob {
  pid_t pid = 0;
  /// The program with its arguments; of several programs, that of the first process.
  std::string command;
  /// In the order of their ranks, at least one.
  std::vector<JobProcess> processes;

  /// Ranks of the job; 0 if only the host MPI knows their number.
  [[nodiscard]] std::int32_t rank_count() const { return processes.front().spec.rank_count; }
};

/// The oldest first.
[[nodiscard]] std::vector<RunningJob> running_jobs();

/// The job with the number `word`, which may also be that of one of its processes. An error says
/// why there is none.
[[nodiscard]] Result<RunningJob> find_job(const std::string& word);

/// The job whose processes the calling `sorrel run` has started, or under a host MPI the part of it
/// on this machine; nothing before their start, and after their end.
[[nodiscard]] std::optional<RunningJob> job_of_this_command();

/// The process's mark as it is now; nothing if it has ended.
[[nodiscard]] std::optional<launch::ProcessMark> mark_of(pid_t pid);

}  // namespace sorrel::tool
